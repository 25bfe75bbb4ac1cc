//! Formulas of counters: the text that stands in the data files and in the documentation is what is computed.
//!
//! `+ - * /`, parentheses, numbers, `min(a, b, …)`, `max(a, b, …)`, `percent(part, whole)`; names of events
//! (`Triangles`), of unit events in one phase (`Main.Fma`) or in all (`Fma`), of other counters (`MaliFragWarp`), and
//! the model's constants (`$cores`). A quotient with divisor 0 is 0. Values are f64: exact up to 2^53.

use crate::event::{Counts, Event, Phase, Unit};
use crate::model::Model;

#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    Number(f64),
    Constant(&'static str),
    Event(Event),
    Unit(Phase, Unit),
    /// In all phases.
    Total(Unit),
    /// Index in the catalogue.
    Counter(usize),
    Add(Box<[Formula; 2]>),
    Sub(Box<[Formula; 2]>),
    Mul(Box<[Formula; 2]>),
    Div(Box<[Formula; 2]>),
    Min(Vec<Formula>),
    Max(Vec<Formula>),
    /// 100 · part / whole. More than 100 says that one of both is wrong, so it is not cut.
    Percent(Box<[Formula; 2]>),
}

fn quotient(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

impl Formula {
    /// `counter` finds another counter's index by its machine name.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &'static str, counter: &dyn Fn(&str) -> Option<usize>) -> Result<Formula, String> {
        let mut p = Parser { rest: text, counter };
        let f = p.sum()?;
        if p.peek().is_some() {
            return Err(format!("`{text}`: unexpected `{}`", p.rest.trim_start()));
        }
        Ok(f)
    }

    /// `counter`: the value of another counter.
    pub fn value(&self, c: &Counts, m: &Model, counter: &dyn Fn(usize) -> f64) -> f64 {
        let v = |f: &Formula| f.value(c, m, counter);
        match self {
            Formula::Number(n) => *n,
            Formula::Constant(name) => m.constant(name).unwrap_or(0.0),
            Formula::Event(e) => c[*e] as f64,
            Formula::Unit(p, u) => c[(*p, *u)] as f64,
            Formula::Total(u) => c.total(*u) as f64,
            Formula::Counter(i) => counter(*i),
            Formula::Add(ab) => v(&ab[0]) + v(&ab[1]),
            Formula::Sub(ab) => v(&ab[0]) - v(&ab[1]),
            Formula::Mul(ab) => v(&ab[0]) * v(&ab[1]),
            Formula::Div(ab) => quotient(v(&ab[0]), v(&ab[1])),
            Formula::Min(all) => all.iter().map(v).fold(f64::INFINITY, f64::min),
            Formula::Max(all) => all.iter().map(v).fold(f64::NEG_INFINITY, f64::max),
            Formula::Percent(ab) => (quotient(v(&ab[0]), v(&ab[1])) * 100.0).max(0.0),
        }
    }

    /// This with another formula for each name (of constants, events, counters); `None` where `f` has none.
    pub fn renamed(&self, f: &dyn Fn(&Formula) -> Option<Formula>) -> Option<Formula> {
        let pair = |ab: &[Formula; 2]| Some(Box::new([ab[0].renamed(f)?, ab[1].renamed(f)?]));
        let list = |all: &[Formula]| all.iter().map(|a| a.renamed(f)).collect::<Option<Vec<_>>>();
        Some(match self {
            Formula::Number(n) => Formula::Number(*n),
            Formula::Add(ab) => Formula::Add(pair(ab)?),
            Formula::Sub(ab) => Formula::Sub(pair(ab)?),
            Formula::Mul(ab) => Formula::Mul(pair(ab)?),
            Formula::Div(ab) => Formula::Div(pair(ab)?),
            Formula::Min(all) => Formula::Min(list(all)?),
            Formula::Max(all) => Formula::Max(list(all)?),
            Formula::Percent(ab) => Formula::Percent(pair(ab)?),
            name => f(name)?,
        })
    }

    /// Calls `f` with this and every part of it, other counters' formulas not included.
    pub fn visit(&self, f: &mut dyn FnMut(&Formula)) {
        f(self);
        let parts: &[Formula] = match self {
            Formula::Add(ab)
            | Formula::Sub(ab)
            | Formula::Mul(ab)
            | Formula::Div(ab)
            | Formula::Percent(ab) => &**ab,
            Formula::Min(all) | Formula::Max(all) => all,
            _ => &[],
        };
        parts.iter().for_each(|p| p.visit(f));
    }
}

struct Parser<'a> {
    rest: &'static str,
    counter: &'a dyn Fn(&str) -> Option<usize>,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }
    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.rest = &self.rest[c.len_utf8()..];
        }
        found
    }
    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.eat(c) { Ok(()) } else { Err(format!("`{c}` expected before `{}`", self.rest)) }
    }
    fn sum(&mut self) -> Result<Formula, String> {
        let mut f = self.product()?;
        loop {
            if self.eat('+') {
                f = Formula::Add(Box::new([f, self.product()?]));
            } else if self.eat('-') {
                f = Formula::Sub(Box::new([f, self.product()?]));
            } else {
                return Ok(f);
            }
        }
    }
    fn product(&mut self) -> Result<Formula, String> {
        let mut f = self.atom()?;
        loop {
            if self.eat('*') {
                f = Formula::Mul(Box::new([f, self.atom()?]));
            } else if self.eat('/') {
                f = Formula::Div(Box::new([f, self.atom()?]));
            } else {
                return Ok(f);
            }
        }
    }
    fn list(&mut self) -> Result<Vec<Formula>, String> {
        self.expect('(')?;
        let mut all = vec![self.sum()?];
        while self.eat(',') {
            all.push(self.sum()?);
        }
        self.expect(')')?;
        Ok(all)
    }
    fn atom(&mut self) -> Result<Formula, String> {
        if self.eat('(') {
            let f = self.sum()?;
            self.expect(')')?;
            return Ok(f);
        }
        self.peek();
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '$'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if let Ok(n) = word.parse() {
            return Ok(Formula::Number(n));
        }
        match word {
            "min" => return Ok(Formula::Min(self.list()?)),
            "max" => return Ok(Formula::Max(self.list()?)),
            "percent" => {
                let ab: [Formula; 2] =
                    self.list()?.try_into().map_err(|_| "percent takes two".to_string())?;
                return Ok(Formula::Percent(Box::new(ab)));
            }
            _ => {}
        }
        if word.starts_with('$') && Model::default().constant(word).is_some() {
            return Ok(Formula::Constant(word));
        }
        if let Some((phase, unit)) = word.split_once('.')
            && let (Some(p), Some(u)) = (Phase::from_name(phase), Unit::from_name(unit))
        {
            return Ok(Formula::Unit(p, u));
        }
        if let Some(e) = Event::from_name(word) {
            return Ok(Formula::Event(e));
        }
        if let Some(u) = Unit::from_name(word) {
            return Ok(Formula::Total(u));
        }
        (self.counter)(word).map(Formula::Counter).ok_or_else(|| format!("unknown name `{word}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &'static str) -> f64 {
        let mut c = Counts::default();
        c[Event::Triangles] = 10;
        c[(Phase::Main, Unit::Fma)] = 6;
        c[(Phase::Compute, Unit::Fma)] = 2;
        let f = Formula::parse(text, &|n| (n == "Other").then_some(0)).unwrap();
        f.value(&c, &Model::default(), &|_| 5.0)
    }

    #[test]
    fn arithmetic() {
        assert_eq!(value("2 + 3 * 4 - 1"), 13.0);
        assert_eq!(value("(2 + 3) * 4 / 8"), 2.5);
        assert_eq!(value("12 / 2 / 3 - 1 - 1"), 0.0);
        assert_eq!(value("max(1, min(9, 4), Other)"), 5.0);
        assert_eq!(value("Triangles / 0"), 0.0);
        assert_eq!(value("Main.Fma + Fma"), 14.0);
        assert_eq!(value("Binning.Fma"), 0.0);
        assert_eq!(value("percent(Main.Fma, Fma)"), 75.0);
        // More than all of it is not cut.
        assert!((value("percent(Fma, Main.Fma)") - 400.0 / 3.0).abs() < 1e-9);
        assert_eq!(value("percent(0 - Fma, Main.Fma)"), 0.0);
        assert_eq!(value("$cores"), 10.0);
    }

    #[test]
    fn bad_text_is_an_error() {
        for bad in ["", "1 +", "Triangels", "max(1", "percent(1)", "1 2", "$nothing", "Main.Nothing", "(1"] {
            assert!(Formula::parse(bad, &|_| None).is_err(), "{bad}");
        }
    }
}
