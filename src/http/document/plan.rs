//! The order and the types of an answer's fields, as the document asked for them.
//!
//! The library answers fields in the order their resolvers finish, leaves failed ones out, and merges what was asked
//! twice. A plan holds, for each object an answer may contain, its keys in the order asked, fragments and aliases
//! resolved. Built once per request; never looks at an answer.

use std::collections::{BTreeMap, HashMap};

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    Directive, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet, Type,
};
use async_graphql::{Name, Variables};
use async_graphql_value::indexmap::IndexMap;
use async_graphql_value::{ConstValue, Value};

use super::types::{Shape, Types, named};

/// What stands inside a field: nothing for a leaf, else one list of fields for each object type it may turn out to be.
#[derive(Debug, Default)]
pub struct Plan {
    /// One entry for a field of an object type, several for an interface or union.
    pub variants: Vec<Variant>,
}

/// The fields asked of one object type.
#[derive(Debug)]
pub struct Variant {
    /// Its name, unless it is introspection's.
    pub object: Name,
    /// In the order asked.
    pub fields: Vec<Planned>,
}

/// A field of an answer.
#[derive(Debug)]
pub struct Planned {
    /// Its alias or name.
    pub key: Name,
    /// Its type, unless it is introspection's.
    pub ty: Option<Type>,
    /// Whether it is an Int, or a list of them.
    pub is_int: bool,
    /// Whether it is `__typename`.
    pub is_typename: bool,
    /// What stands inside.
    pub plan: Plan,
}

/// Plans the answer of an operation.
#[must_use]
pub fn plan(
    operation: &OperationDefinition,
    fragments: &HashMap<Name, Positioned<FragmentDefinition>>,
    variables: &Variables,
    types: &Types,
) -> Plan {
    let planner = Planner { fragments, variables, types };
    planner.plan(Some(types.root(operation.ty)), &[&operation.selection_set.node])
}

struct Planner<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    variables: &'a BTreeMap<Name, ConstValue>,
    types: &'a Types,
}

/// Fields by key, each with every place it was asked in, in the order first asked.
type Collected<'a> = IndexMap<&'a Name, Vec<&'a Field>>;

impl<'a> Planner<'a> {
    fn plan(&self, ty: Option<&Name>, sets: &[&'a SelectionSet]) -> Plan {
        if sets.iter().all(|set| set.items.is_empty()) {
            return Plan::default();
        }
        let variants = match ty.and_then(|ty| Some((ty, self.types.shape(ty)?))) {
            Some((_, Shape::Abstract(_, possible))) => {
                possible.iter().map(|object| self.variant(Some(object), sets)).collect()
            }
            Some((object, _)) => vec![self.variant(Some(object), sets)],
            None => vec![self.variant(None, sets)],
        };
        Plan { variants }
    }

    fn variant(&self, object: Option<&Name>, sets: &[&'a SelectionSet]) -> Variant {
        let mut collected = Collected::new();
        for set in sets {
            self.collect(object, set, &mut collected);
        }
        let fields = collected.into_iter().map(|(key, fields)| self.field(object, key, &fields)).collect();
        Variant { object: object.cloned().unwrap_or_else(|| Name::new("")), fields }
    }

    fn field(&self, object: Option<&Name>, key: &Name, asked: &[&'a Field]) -> Planned {
        let name = asked.first().map_or("", |field| field.name.node.as_str());
        let ty = object.and_then(|object| self.types.field(object, name)).map(|shape| shape.ty.clone());
        let sets: Vec<_> = asked.iter().map(|field| &field.selection_set.node).collect();
        let plan = self.plan(ty.as_ref().map(named), &sets);
        let is_int = ty.as_ref().is_some_and(|ty| named(ty) == "Int");
        Planned { key: key.clone(), ty, is_int, is_typename: name == "__typename", plan }
    }

    fn collect(&self, object: Option<&Name>, set: &'a SelectionSet, into: &mut Collected<'a>) {
        for selection in &set.items {
            if self.is_skipped(selection.node.directives()) {
                continue;
            }
            match &selection.node {
                Selection::Field(field) => into.entry(&field.node.response_key().node).or_default().push(&field.node),
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref().map(|condition| &condition.node.on.node);
                    if self.applies(condition, object) {
                        self.collect(object, &inline.node.selection_set.node, into);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = self.fragments.get(&spread.node.fragment_name.node);
                    if let Some(Positioned { node: fragment, .. }) = fragment
                        && self.applies(Some(&fragment.type_condition.node.on.node), object)
                    {
                        self.collect(object, &fragment.selection_set.node, into);
                    }
                }
            }
        }
    }

    fn applies(&self, condition: Option<&Name>, object: Option<&Name>) -> bool {
        match (condition, object) {
            (Some(condition), Some(object)) => self.types.applies(condition, object),
            // Introspection has no abstract types: validation lets only a condition that applies stand there.
            _ => true,
        }
    }

    fn is_skipped(&self, directives: &[Positioned<Directive>]) -> bool {
        directives.iter().any(|directive| {
            let unwanted = match directive.node.name.node.as_str() {
                "skip" => true,
                "include" => false,
                _ => return false,
            };
            let condition = match directive.node.get_argument("if").map(|value| &value.node) {
                Some(Value::Boolean(condition)) => *condition,
                Some(Value::Variable(name)) => self.variables.get(name) == Some(&ConstValue::Boolean(true)),
                _ => false,
            };
            condition == unwanted
        })
    }
}
