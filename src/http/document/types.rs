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
        Ok(Self { shapes, roots })
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
