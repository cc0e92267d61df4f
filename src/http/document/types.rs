//! The schema's types, as far as the door needs them: what an input must look like, and what a field gives.
//!
//! Built once from the printed schema, because the library keeps its registry to itself. Introspection's own types are
//! not in it; whoever walks a document treats a field it does not find as unknown and leaves it to validation.

use std::collections::HashMap;

use async_graphql::Name;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, OperationType, Type, TypeDefinition, TypeKind,
    TypeSystemDefinition,
};
use async_graphql::parser::{self, Positioned, parse_schema};

/// The types of a schema by name, and the names of its roots.
#[derive(Debug)]
pub struct Types {
    shapes: HashMap<Name, Shape>,
    roots: Roots,
    /// How many there are of each list of introspection: of one type on average, and of the type that has most.
    lists: HashMap<&'static str, [u64; 2]>,
}

#[derive(Debug)]
struct Roots {
    query: Name,
    mutation: Name,
    subscription: Name,
}

/// What a named type is.
#[derive(Debug)]
pub enum Shape {
    /// A scalar, built in or our own.
    Scalar,
    /// An enum and its values.
    Enum(Vec<Name>),
    /// An input object.
    Input(InputObject),
    /// An object type and its fields.
    Object(HashMap<Name, FieldShape>),
    /// An interface or union: its own fields, and the objects it may turn out to be.
    Abstract(HashMap<Name, FieldShape>, Vec<Name>),
}

/// The fields of an input object.
#[derive(Debug)]
pub struct InputObject {
    /// By name.
    pub fields: HashMap<Name, Place>,
    /// Exactly one field must be given.
    pub one_of: bool,
}

/// A place that takes an input: an argument or a field of an input object.
#[derive(Debug)]
pub struct Place {
    /// The type it takes.
    pub ty: Type,
    /// Whether it may be left out even though it is not nullable.
    pub has_default: bool,
}

/// A field of an object or interface.
#[derive(Debug)]
pub struct FieldShape {
    /// What it gives.
    pub ty: Type,
    /// What it takes.
    pub arguments: HashMap<Name, Place>,
}

impl Types {
    /// Reads the types from a printed schema.
    ///
    /// # Errors
    /// When the text is not a schema.
    pub fn read(sdl: &str) -> Result<Self, parser::Error> {
        let mut shapes: HashMap<Name, Shape> =
            ["Int", "Float", "String", "Boolean", "ID"].map(|name| (Name::new(name), Shape::Scalar)).into();
        let mut roots = Roots {
            query: Name::new("Query"),
            mutation: Name::new("Mutation"),
            subscription: Name::new("Subscription"),
        };
        let mut implementers: Vec<(Name, Name)> = Vec::new();
        for definition in parse_schema(sdl)?.definitions {
            match definition {
                TypeSystemDefinition::Schema(schema) => {
                    let schema = schema.node;
                    for (root, given) in [
                        (&mut roots.query, schema.query),
                        (&mut roots.mutation, schema.mutation),
                        (&mut roots.subscription, schema.subscription),
                    ] {
                        if let Some(name) = given {
                            *root = name.node;
                        }
                    }
                }
                TypeSystemDefinition::Type(definition) => {
                    let definition = definition.node;
                    if let TypeKind::Object(object) = &definition.kind {
                        let name = &definition.name.node;
                        implementers.extend(object.implements.iter().map(|of| (of.node.clone(), name.clone())));
                    }
                    shapes.insert(definition.name.node.clone(), shape(definition));
                }
                TypeSystemDefinition::Directive(_) => {}
            }
        }
        for (interface, object) in implementers {
            if let Some(Shape::Abstract(_, possible)) = shapes.get_mut(&interface) {
                possible.push(object);
            }
        }
        let lists = lists(&shapes);
        Ok(Self { shapes, roots, lists })
    }

    /// How many answers a field of introspection has: of all types together it is as often as on average, of the types that
    /// a client picks, as often as can be.
    #[must_use]
    pub fn introspected(&self, name: &str, picked: bool) -> u64 {
        self.lists.get(name).map_or(1, |counts| counts[usize::from(picked)])
    }

    /// What a named type is, when it is known.
    #[must_use]
    pub fn shape(&self, name: &str) -> Option<&Shape> {
        self.shapes.get(name)
    }

    /// The type on whose fields an operation begins.
    #[must_use]
    pub const fn root(&self, ty: OperationType) -> &Name {
        match ty {
            OperationType::Query => &self.roots.query,
            OperationType::Mutation => &self.roots.mutation,
            OperationType::Subscription => &self.roots.subscription,
        }
    }

    /// A field of an object or interface, when both are known.
    #[must_use]
    pub fn field(&self, parent: &str, name: &str) -> Option<&FieldShape> {
        match self.shape(parent)? {
            Shape::Object(fields) | Shape::Abstract(fields, _) => fields.get(name),
            Shape::Scalar | Shape::Enum(_) | Shape::Input(_) => None,
        }
    }

    /// Whether a fragment on `condition` applies to an object of type `object`.
    #[must_use]
    pub fn applies(&self, condition: &str, object: &str) -> bool {
        condition == object
            || matches!(self.shape(condition), Some(Shape::Abstract(_, possible)) if possible.iter().any(|name| name == object))
    }
}

/// The sizes of introspection's lists.
fn lists(shapes: &HashMap<Name, Shape>) -> HashMap<&'static str, [u64; 2]> {
    let counts = |of: &dyn Fn(&Shape) -> Option<usize>| {
        let found: Vec<usize> = shapes.values().map(|shape| of(shape).unwrap_or(0)).collect();
        let average = found.iter().sum::<usize>().div_ceil(found.len().max(1));
        [average, found.into_iter().max().unwrap_or(0)].map(|count| count.max(1) as u64)
    };
    let of_fields = |shape: &Shape| match shape {
        Shape::Object(fields) | Shape::Abstract(fields, _) => Some(fields.len()),
        Shape::Scalar | Shape::Enum(_) | Shape::Input(_) => None,
    };
    let [each, most] = counts(&of_fields);
    let arguments = |shape: &FieldShape| shape.arguments.len();
    let fields = || {
        shapes.values().flat_map(|shape| match shape {
            Shape::Object(fields) | Shape::Abstract(fields, _) => fields.values().map(arguments).collect(),
            Shape::Scalar | Shape::Enum(_) | Shape::Input(_) => vec![],
        })
    };
    let (arguments, most_arguments) = (fields().sum::<usize>() as u64, fields().max().unwrap_or(0) as u64);
    let each_arguments = arguments.div_ceil((fields().count() as u64).max(1)).max(1);
    let abstracts = |shape: &Shape| if let Shape::Abstract(_, possible) = shape { Some(possible.len()) } else { None };
    let types = [shapes.len() as u64; 2];
    // An object implements some of the interfaces there are.
    let interfaces = shapes.values().filter(|shape| matches!(shape, Shape::Abstract(..))).count().max(1) as u64;
    HashMap::from([
        ("types", types),
        ("directives", [8; 2]),
        ("fields", [each, most]),
        ("args", [each_arguments, most_arguments.max(1)]),
        ("inputFields", counts(&|shape| if let Shape::Input(input) = shape { Some(input.fields.len()) } else { None })),
        ("enumValues", counts(&|shape| if let Shape::Enum(values) = shape { Some(values.len()) } else { None })),
        ("possibleTypes", counts(&abstracts)),
        ("interfaces", [1, interfaces]),
    ])
}

/// The name inside lists and non-nulls.
#[must_use]
pub fn named(ty: &Type) -> &Name {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(inner) => named(inner),
    }
}

fn shape(definition: TypeDefinition) -> Shape {
    let one_of = definition.directives.iter().any(|directive| directive.node.name.node == "oneOf");
    match definition.kind {
        TypeKind::Scalar => Shape::Scalar,
        TypeKind::Enum(kind) => Shape::Enum(kind.values.into_iter().map(|value| value.node.value.node).collect()),
        TypeKind::InputObject(kind) => Shape::Input(InputObject { fields: places(kind.fields), one_of }),
        TypeKind::Object(kind) => Shape::Object(fields(kind.fields)),
        TypeKind::Interface(kind) => Shape::Abstract(fields(kind.fields), Vec::new()),
        TypeKind::Union(kind) => {
            Shape::Abstract(HashMap::new(), kind.members.into_iter().map(|member| member.node).collect())
        }
    }
}

fn fields(definitions: Vec<Positioned<FieldDefinition>>) -> HashMap<Name, FieldShape> {
    let field = |definition: Positioned<FieldDefinition>| {
        let FieldDefinition { name, arguments, ty, .. } = definition.node;
        (name.node, FieldShape { ty: ty.node, arguments: places(arguments) })
    };
    definitions.into_iter().map(field).collect()
}

fn places(definitions: Vec<Positioned<InputValueDefinition>>) -> HashMap<Name, Place> {
    let place = |definition: Positioned<InputValueDefinition>| {
        let InputValueDefinition { name, ty, default_value, .. } = definition.node;
        (name.node, Place { ty: ty.node, has_default: default_value.is_some() })
    };
    definitions.into_iter().map(place).collect()
}
