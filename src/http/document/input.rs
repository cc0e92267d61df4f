//! Whether a value may stand where an input is taken: one set of rules for variables and for literals.
//!
//! The library checks literals loosely and variables only when a resolver reads them, which is too late to refuse the
//! request. Custom scalars are left to the schema (`ScalarType::is_valid`), which validation asks.

use async_graphql::Name;
use async_graphql::parser::types::{BaseType, Type};
use async_graphql_value::indexmap::IndexMap;
use async_graphql_value::{ConstValue, Number, Value};

use super::types::{InputObject, Place, Shape, Types};

/// What a value is, whether it came as JSON or stands in the document.
pub enum Form<'a, V> {
    /// Null.
    Null,
    /// A variable, known by its own definition.
    Variable(&'a Name),
    /// A number.
    Number(&'a Number),
    /// A string; in JSON also the form of an enum's value.
    String(&'a str),
    /// True or false.
    Boolean,
    /// An enum's value in a document.
    Enum(&'a str),
    /// A list.
    List(&'a [V]),
    /// An object.
    Object(&'a IndexMap<Name, V>),
    /// Bytes: not an input.
    Binary,
}

/// Values that can be checked: literals of a document, and the constants that variables hold.
pub trait Input: Sized {
    /// Whether a string may name an enum's value, as it must in JSON.
    const STRINGS_NAME_ENUMS: bool;

    /// What the value is.
    fn form(&self) -> Form<'_, Self>;
}

impl Input for ConstValue {
    const STRINGS_NAME_ENUMS: bool = true;

    fn form(&self) -> Form<'_, Self> {
        match self {
            Self::Null => Form::Null,
            Self::Number(number) => Form::Number(number),
            Self::String(text) => Form::String(text),
            Self::Boolean(_) => Form::Boolean,
            Self::Enum(name) => Form::Enum(name),
            Self::List(list) => Form::List(list),
            Self::Object(fields) => Form::Object(fields),
            Self::Binary(_) => Form::Binary,
        }
    }
}

impl Input for Value {
    const STRINGS_NAME_ENUMS: bool = false;

    fn form(&self) -> Form<'_, Self> {
        match self {
            Self::Variable(name) => Form::Variable(name),
            Self::Null => Form::Null,
            Self::Number(number) => Form::Number(number),
            Self::String(text) => Form::String(text),
            Self::Boolean(_) => Form::Boolean,
            Self::Enum(name) => Form::Enum(name),
            Self::List(list) => Form::List(list),
            Self::Object(fields) => Form::Object(fields),
            Self::Binary(_) => Form::Binary,
        }
    }
}

/// Where and why a value does not fit: a path from the variable or argument, and a sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Innermost step first.
    path: Vec<String>,
    reason: String,
}

impl Misfit {
    fn new(reason: impl Into<String>) -> Self {
        Self { path: Vec::new(), reason: reason.into() }
    }

    fn under(mut self, step: &impl ToString) -> Self {
        self.path.push(step.to_string());
        self
    }

    /// The sentence, with the way to the place.
    #[must_use]
    pub fn message(&self) -> String {
        if self.path.is_empty() {
            return self.reason.clone();
        }
        let path: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
        format!("at {}: {}", path.join("."), self.reason)
    }
}

/// Checks values against the schema's input types.
pub struct Check<'a> {
    types: &'a Types,
    /// Variables that stand in a non-null place which has a default of its own.
    pub defaulted: Vec<Name>,
}

impl<'a> Check<'a> {
    /// A check by these types.
    #[must_use]
    pub const fn new(types: &'a Types) -> Self {
        Self { types, defaulted: Vec::new() }
    }

    /// Whether `value` may stand in this argument or input field.
    ///
    /// # Errors
    /// Where and why it may not.
    pub fn place<V: Input>(&mut self, place: &Place, value: &V) -> Result<(), Misfit> {
        match value.form() {
            Form::Variable(name) if place.has_default && !place.ty.nullable => {
                self.defaulted.push(name.clone());
                Ok(())
            }
            _ => self.value(&place.ty, value),
        }
    }

    /// Whether `value` is of type `ty`.
    ///
    /// # Errors
    /// Where and why it is not.
    pub fn value<V: Input>(&mut self, ty: &Type, value: &V) -> Result<(), Misfit> {
        match (value.form(), &ty.base) {
            (Form::Variable(_), _) => Ok(()),
            (Form::Null, _) if ty.nullable => Ok(()),
            (Form::Null, _) => Err(Misfit::new(format!("{ty} must not be null."))),
            (Form::List(items), BaseType::List(inner)) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| self.value(inner, item).map_err(|misfit| misfit.under(&index))),
            // One item stands for a list of it.
            (_, BaseType::List(inner)) => self.value(inner, value),
            (form, BaseType::Named(name)) => match self.types.shape(name) {
                Some(Shape::Scalar) => scalar(name, &form),
                Some(Shape::Enum(values)) => one_of_values::<V>(name, values, &form),
                Some(Shape::Input(object)) => self.object(name, object, &form),
                Some(Shape::Object(_) | Shape::Abstract(..)) | None => {
                    Err(Misfit::new(format!("{name} is not an input type.")))
                }
            },
        }
    }

    fn object<V: Input>(&mut self, name: &Name, object: &InputObject, form: &Form<'_, V>) -> Result<(), Misfit> {
        let Form::Object(given) = form else { return Err(Misfit::new(format!("{name} takes an object."))) };
        for (key, value) in *given {
            let place = object.fields.get(key).ok_or_else(|| Misfit::new(format!("{name} has no field \"{key}\".")))?;
            self.place(place, value).map_err(|misfit| misfit.under(key))?;
        }
        let missing =
            |(key, place): &(&Name, &Place)| !place.ty.nullable && !place.has_default && !given.contains_key(*key);
        if let Some((key, place)) = object.fields.iter().find(missing) {
            return Err(Misfit::new(format!("{name} needs its field \"{key}\" of type {}.", place.ty)));
        }
        if object.one_of && (given.len() != 1 || given.values().any(|value| matches!(value.form(), Form::Null))) {
            return Err(Misfit::new(format!("{name} takes exactly one field, and not null.")));
        }
        Ok(())
    }
}

fn scalar<V>(name: &Name, form: &Form<'_, V>) -> Result<(), Misfit> {
    let fits = match name.as_str() {
        "Int" => matches!(form, Form::Number(number) if number.as_i64().is_some_and(|int| i32::try_from(int).is_ok())),
        "Float" => matches!(form, Form::Number(_)),
        "String" => matches!(form, Form::String(_)),
        "Boolean" => matches!(form, Form::Boolean),
        "ID" => matches!(form, Form::String(_)) || matches!(form, Form::Number(number) if number.is_i64()),
        _ => true,
    };
    match (fits, name.as_str()) {
        (true, _) => Ok(()),
        (false, "Int") => Err(Misfit::new("Int takes a whole number of 32 bits.")),
        (false, _) => Err(Misfit::new(format!("{name} takes another kind of value."))),
    }
}

fn one_of_values<V: Input>(name: &Name, values: &[Name], form: &Form<'_, V>) -> Result<(), Misfit> {
    let given = match form {
        Form::Enum(given) => given,
        Form::String(given) if V::STRINGS_NAME_ENUMS => given,
        _ => return Err(Misfit::new(format!("{name} takes one of its values."))),
    };
    if values.iter().any(|value| value == given) {
        return Ok(());
    }
    Err(Misfit::new(format!("{name} has no such value.")))
}
