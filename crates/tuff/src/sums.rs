//! Counters of several places, added up as the driver would have counted them in one.

use counters::{Counts, Model, catalogue};
use serde_json::{Map, Value, json};

/// Counters by machine name, as the driver's files have them.
pub type Counters = Map<String, Value>;

/// A sum of whole numbers is whole.
fn sum(values: impl Iterator<Item = Value> + Clone) -> Value {
    let whole: Option<u64> = values.clone().map(|v| v.as_u64()).sum();
    whole.map_or_else(|| json!(values.filter_map(|v| v.as_f64()).sum::<f64>()), Value::from)
}

/// Counters add up; what follows from others by a formula (a ratio, say) does so from the sums.
pub fn of(parts: &[&Counters], model: &Model) -> Counters {
    let value_of =
        |c: &'static counters::Counter| move |p: &&Counters| p.get(c.machine).cloned().unwrap_or(json!(0));
    let sums: Vec<Value> = catalogue::all().iter().map(|c| sum(parts.iter().map(value_of(c)))).collect();
    let mut total = Counters::new();
    for c in catalogue::reported() {
        if parts.iter().all(|p| p.get(c.machine).is_none()) {
            continue;
        }
        let place = catalogue::place(c.machine).unwrap_or_default();
        let written = match c.from_others() {
            None => sums[place].clone(),
            Some(_) => {
                let value = value(place, &sums, model, &[]);
                let whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
                if whole { json!(value as u64) } else { json!(value) }
            }
        };
        total.insert(c.machine.into(), written);
    }
    total
}

/// The value of a counter of the catalogue, by its place; `asked` are those whose values are being computed.
fn value(place: usize, sums: &[Value], m: &Model, asked: &[usize]) -> f64 {
    let c = &catalogue::all()[place];
    match c.from_others().filter(|_| !asked.contains(&place)) {
        // Two counters of the same events tell each other.
        None => sums[place].as_f64().unwrap_or(0.0),
        Some(formula) => {
            let asked = [asked, &[place]].concat();
            c.cut(formula.value(&Counts::default(), m, &|i| value(i, sums, m, &asked)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_ratios_are_of_the_sums() {
        let m = counters::model::current();
        let part = |cycles: u64, fma: u64| {
            let v = json!({ "MaliCoreActiveCy": cycles, "MaliEngFMAInstr": fma, "TuffSamplesPassed": 1.5 });
            v.as_object().unwrap().clone()
        };
        let ratio = catalogue::reported().iter().find(|c| {
            let by = |n: &str| catalogue::place(n).is_some();
            c.unit == "percent" && c.from_others().is_some() && by("MaliCoreActiveCy")
        });
        let (a, b) = (part(100, 7), part(300, 0));
        let all = of(&[&a, &b], m);
        assert_eq!((&all["MaliCoreActiveCy"], &all["TuffSamplesPassed"]), (&json!(400), &json!(3.0)));
        // A ratio that the parts have is computed anew: never the sum of two.
        let name = ratio.expect("one").machine;
        let with = |mut p: Counters| {
            p.insert(name.into(), json!(90));
            p
        };
        let all = of(&[&with(a), &with(b)], m);
        assert!(all[name].as_f64() < Some(90.0), "{name}: {}", all[name]);
    }
}
