//! Puts an answer's data into the shape that was asked for.
//!
//! Fields in the order of the document; a field that failed is null, and where it cannot be, the object that holds it is;
//! an Int that does not fit 32 bits is a failed field. Only when something failed is more than the order looked at.

use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{Name, PathSegment, ServerError};
use async_graphql_value::ConstValue;
use async_graphql_value::indexmap::IndexMap;

use crate::http::document::plan::{Plan, Variant};
use crate::http::refusal::{Code, error};

/// The data in the planned shape. Adds an error for each Int that is none.
pub fn shape(mut data: ConstValue, errors: &mut Vec<ServerError>, plan: &Plan) -> ConstValue {
    if !ints_fit(&data, plan) {
        blank_wide_ints(&mut data, plan, &mut Vec::new(), errors);
    }
    if !errors.is_empty() {
        for failed in errors.iter() {
            mark(&mut data, &failed.path);
        }
        data = complete_objects(data, plan).unwrap_or(ConstValue::Null);
    }
    order(&mut data, plan);
    data
}

/// The variant of the plan that an object follows: by its `__typename`, else by its keys.
fn variant<'a>(plan: &'a Plan, object: &IndexMap<Name, ConstValue>) -> Option<&'a Variant> {
    let [first, rest @ ..] = plan.variants.as_slice() else { return None };
    if rest.is_empty() {
        return Some(first);
    }
    let is_typename = |variant: &&Variant| {
        let typename = variant.fields.iter().find(|field| field.is_typename);
        typename.is_some_and(|field| object.get(&field.key) == Some(&ConstValue::String(variant.object.to_string())))
    };
    let has_all = |variant: &&Variant| object.keys().all(|key| variant.fields.iter().any(|field| field.key == *key));
    let variants = || plan.variants.iter();
    variants()
        .find(is_typename)
        .or_else(|| variants().find(|variant| variant.fields.len() == object.len() && has_all(variant)))
        .or_else(|| variants().find(has_all))
}

/// Puts the fields of every object into the planned order.
fn order(value: &mut ConstValue, plan: &Plan) {
    match value {
        ConstValue::List(items) => items.iter_mut().for_each(|item| order(item, plan)),
        ConstValue::Object(object) => {
            let Some(variant) = variant(plan, object) else { return };
            let in_order = object.keys().eq(variant.fields.iter().map(|field| &field.key));
            if !in_order {
                let mut given = std::mem::take(object);
                let planned = variant.fields.iter();
                object.extend(planned.filter_map(|field| given.swap_remove_entry(&field.key)));
                object.extend(given);
            }
            for field in &variant.fields {
                if !field.plan.variants.is_empty()
                    && let Some(value) = object.get_mut(&field.key)
                {
                    order(value, &field.plan);
                }
            }
        }
        _ => {}
    }
}

/// Puts a null where a field failed. An object none of whose fields came through is given as null by the library, as a
/// null object would be; the path of the failed field tells them apart.
fn mark(value: &mut ConstValue, path: &[PathSegment]) {
    match (path, value) {
        ([PathSegment::Field(name), rest @ ..], value) => {
            if *value == ConstValue::Null {
                *value = ConstValue::Object(IndexMap::new());
            }
            if let ConstValue::Object(object) = value {
                mark(object.entry(Name::new(name)).or_default(), rest);
            }
        }
        ([PathSegment::Index(index), rest @ ..], ConstValue::List(items)) => {
            if let Some(item) = items.get_mut(*index) {
                mark(item, rest);
            }
        }
        _ => {}
    }
}

/// Completes every object of a value; none when a field that cannot be null is.
fn complete_objects(value: ConstValue, plan: &Plan) -> Option<ConstValue> {
    let ConstValue::Object(mut object) = value else { return Some(value) };
    let Some(variant) = variant(plan, &object) else { return Some(ConstValue::Object(object)) };
    for field in &variant.fields {
        let Some(value) = object.get_mut(&field.key) else { continue };
        *value = complete(std::mem::take(value), field.ty.as_ref(), &field.plan)?;
    }
    Some(ConstValue::Object(object))
}

/// A value of a type, with null in place of what cannot be; none when it cannot be null itself.
fn complete(value: ConstValue, ty: Option<&Type>, plan: &Plan) -> Option<ConstValue> {
    let completed = match (value, ty.map(|ty| &ty.base)) {
        (ConstValue::List(items), Some(BaseType::List(inner))) => {
            let items: Option<Vec<_>> = items.into_iter().map(|item| complete(item, Some(inner), plan)).collect();
            items.map(ConstValue::List)
        }
        (value, _) => complete_objects(value, plan),
    };
    let nullable = ty.is_none_or(|ty| ty.nullable);
    completed.filter(|value| nullable || *value != ConstValue::Null).or(nullable.then_some(ConstValue::Null))
}

fn is_wide(value: &ConstValue) -> bool {
    match value {
        ConstValue::Number(number) => number.as_i64().is_none_or(|int| i32::try_from(int).is_err()),
        ConstValue::List(items) => items.iter().any(is_wide),
        _ => false,
    }
}

/// Whether every Int of an answer fits 32 bits.
fn ints_fit(value: &ConstValue, plan: &Plan) -> bool {
    match value {
        ConstValue::List(items) => items.iter().all(|item| ints_fit(item, plan)),
        ConstValue::Object(object) => variant(plan, object).is_none_or(|variant| {
            variant.fields.iter().all(|field| match object.get(&field.key) {
                Some(value) if field.is_int => !is_wide(value),
                Some(value) => field.plan.variants.is_empty() || ints_fit(value, &field.plan),
                None => true,
            })
        }),
        _ => true,
    }
}

/// Makes failed fields of Ints that do not fit.
fn blank_wide_ints(value: &mut ConstValue, plan: &Plan, path: &mut Vec<PathSegment>, errors: &mut Vec<ServerError>) {
    match value {
        ConstValue::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                path.push(PathSegment::Index(index));
                blank_wide_ints(item, plan, path, errors);
                path.pop();
            }
        }
        ConstValue::Object(object) => {
            let Some(variant) = variant(plan, object) else { return };
            for field in &variant.fields {
                let Some(value) = object.get_mut(&field.key) else { continue };
                path.push(PathSegment::Field(field.key.to_string()));
                if field.is_int && is_wide(value) {
                    *value = ConstValue::Null;
                    errors.push(
                        error(Code::Internal, "An Int of 32 bits cannot hold the value.").with_path(path.clone()),
                    );
                } else {
                    blank_wide_ints(value, &field.plan, path, errors);
                }
                path.pop();
            }
        }
        _ => {}
    }
}
