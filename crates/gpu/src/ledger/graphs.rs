//! The operators of a data graph as the ledger's files have them: what each asks of the modelled GPU (docs/capture.md).

use counters::cost;
use graph::Plan;
use machine::count;
use serde::Serialize;

/// A node, once.
#[derive(Serialize)]
pub(super) struct Operator {
    operator: &'static str,
    /// Type and shape of the first result.
    result: String,
    products: u64,
    others: u64,
    /// Warp-instructions of the FMA, CVT and SFU pipes.
    fma: u64,
    cvt: u64,
    sfu: u64,
    read_bytes: u64,
    written_bytes: u64,
    /// What it would take alone, without the front end's overhead.
    cycles: u64,
}

pub(super) fn operators(plan: &Plan) -> Vec<Operator> {
    let (g, model) = (plan.graph(), counters::model::current());
    let each = g.nodes.iter().zip(plan.costs()).map(|(n, c)| {
        let value = &g.values[n.results[0] as usize];
        let [fma, cvt, sfu] = c.lanes.map(|n| n.div_ceil(counters::model::WARP));
        Operator {
            operator: n.op.name(),
            result: format!("{:?} {:?}", value.ty, value.shape),
            products: c.products,
            others: c.others,
            fma,
            cvt,
            sfu,
            read_bytes: c.read,
            written_bytes: c.written,
            cycles: cost::compute(&count::graph(&c), model).busy(),
        }
    });
    each.collect()
}
