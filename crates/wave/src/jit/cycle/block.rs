//! A block of a region: its items in order, for each side.

use super::decide::compare;
use super::{Cycle, Rare, Stub};
use crate::jit::emit::{Arg, Made, TooMuch};
use crate::jit::machine::{ALWAYS, NONE, SOME};
use crate::jit::nodes::body::{Body, Item};
use crate::jit::nodes::region::{Check, End, Load, Loop, To};
use crate::recording::{Id, Node};

impl<'r> Cycle<'r> {
    pub fn block(&mut self, b: usize) -> Made<()> {
        let region = self.region;
        let block = &region.blocks[b];
        self.begin(&block.body, block.end);
        self.count_loads(&block.body)?;
        for (at, (item, k)) in self.order(&block.body).into_iter().enumerate() {
            self.e.begin_item(k);
            self.item(at as u32, item, b)?;
        }
        self.e.begin_item(0);
        match block.end {
            End::Go(to) => self.go_on(b, to),
            End::If(c, yes, no) => {
                let (is, is_not) = match self.compare.take() {
                    Some(compare) => self.compares(u32::MAX, &compare)?,
                    None => {
                        self.test(&[c])?;
                        (SOME, NONE)
                    }
                };
                if yes == To::Block(b + 1) {
                    return self.go(is_not, no);
                }
                self.go(is, yes)?;
                self.go_on(b, no)
            }
            End::Any { some, none } => {
                self.any_lane()?;
                self.go(NONE, none)?;
                self.go_on(b, some)
            }
            End::Park(to) => {
                self.no_lane()?;
                self.go_on(b, to)
            }
            End::Back { row, to, op } => {
                if row != 0 {
                    self.tally(row)?;
                }
                self.turn()?;
                let some = self.patience()?;
                self.go(some, to)?;
                let from = self.e.m.jump(ALWAYS)?;
                let what = Rare::Tired(op, self.e.sides(), self.e.is_full());
                let (from, held) = ([Some(from), None], self.e.reserved());
                self.stubs.push(Stub { from, back: self.e.m.here(), what, held });
                self.go(ALWAYS, to)
            }
        }
    }

    /// The items of a block in order, and for which side.
    fn order(&self, body: &Body) -> Vec<(Item, usize)> {
        let mut order = vec![];
        let n = self.together(body);
        let computed = |i: &&Item| !matches!(i, Item::Compute(id) if self.leaves_out(*id));
        for first in (0..self.e.sides()).step_by(n) {
            for item in body.each.iter().filter(computed) {
                let sides = first..(first + n).min(self.e.sides());
                order.extend(sides.filter(|k| self.done_for(body, *item, *k)).map(|k| (*item, k)));
            }
        }
        order
    }

    fn leaves_out(&self, id: Id) -> bool {
        self.compare.as_ref().is_some_and(|c| c.left_out.contains(&id))
    }

    /// What is common to all sides is done once.
    fn done_for(&self, body: &Body, item: Item, k: usize) -> bool {
        k == 0
            || match item {
                Item::Compute(id) => !body.uniform[id as usize],
                Item::Store(r, _) => !r.is_uniform(),
                Item::Check(i) => !body.uniform[self.region.checks[i as usize].results[0] as usize],
                Item::Test(_) | Item::Tally(_) => false,
                _ => true,
            }
    }

    /// Gets ready for a block: which values lie where, and when they are used.
    pub fn begin(&mut self, body: &'r Body, end: End) {
        let (sides, n) = (self.e.sides(), body.nodes.len());
        self.scalars.clear();
        self.loaded.clear();
        self.most_rows = self.most_rows.max(self.e.rows());
        self.e.begin_body(body, self.own);
        for pin in &self.pins {
            let each = if pin.reg.is_uniform() { 1 } else { sides };
            if let Some(id) = self.e.given(Node::Word(pin.reg)) {
                for k in 0..each {
                    self.e.pin_vector(id + (k * n) as Id, pin.first + k as u8);
                }
            }
            for item in &body.each {
                if let Item::Store(r, id) = item
                    && *r == pin.reg
                    && !body.nodes[*id as usize].is_given()
                    && !body.nodes[*id as usize].is_mask()
                {
                    for k in 0..each {
                        let own = k > 0 && !body.uniform[*id as usize];
                        let id = id + own as Id * (k * n) as Id;
                        self.e.hint(id, pin.first + k as u8);
                    }
                }
            }
        }
        if let Some(id) = self.e.given(Node::Exec)
            && !self.e.is_full()
        {
            for k in 0..sides {
                self.place_lanes(id + (k * n) as Id, k);
            }
        }
        let mut uses = vec![vec![]; n * sides];
        self.compare = match end {
            End::If(c, ..) => compare(self.region, body, c),
            _ => None,
        };
        let order = self.order(body);
        if let Some(c) = &self.compare {
            c.values().for_each(|id| uses[id as usize].push(order.len() as u32));
        } else if let End::If(c, ..) = end {
            uses[c as usize].push(order.len() as u32);
        }
        for (at, (item, k)) in order.into_iter().enumerate().rev() {
            // A test asks all sides at once.
            let all = if matches!(item, Item::Test(_)) { 0..sides } else { k..k + 1 };
            for k in all {
                reads(self.region, body, item, |id| {
                    let own = k > 0 && !body.uniform[id as usize];
                    uses[id as usize + if own { k * n } else { 0 }].push(at as u32);
                });
            }
        }
        self.e.set_uses(uses);
    }

    fn item(&mut self, at: u32, item: Item, b: usize) -> Made<()> {
        match item {
            Item::Compute(id) => {
                let id = self.e.value(id);
                match self.e.node(id) {
                    Node::Load(i, a, c) => {
                        let load: Load = self.region.loads[i as usize];
                        match load.part {
                            Some(part) => self.load_part(at, id, &load, part, [a, c]),
                            None => self.load(at, id, &load, a, c),
                        }
                    }
                    _ => self.e.compute(at, id),
                }
            }
            Item::Store(r, id) => {
                let id = self.e.value(id);
                let mask = self.e.node(id).is_mask();
                match self.pins.iter().find(|p| p.reg == r && !mask).copied() {
                    Some(pin) => {
                        let k = if r.is_uniform() { 0 } else { self.e.this_side() };
                        self.e.put_in(at, pin.first + k as u8, id)?;
                    }
                    None => self.e.store(at, r, id, false)?,
                }
                if mask { Ok(()) } else { self.written(r, b) }
            }
            Item::Wide(..) => self.e.item(at, item),
            Item::Tally(row) => self.tally(row),
            Item::Check(i) => {
                let region = self.region;
                self.check(at, i as usize, &region.checks[i as usize])
            }
            Item::Test(id) => {
                let ids: Vec<Id> = (0..self.e.sides())
                    .map(|k| {
                        self.e.set_side(k);
                        self.e.value(id)
                    })
                    .collect();
                self.e.set_side(0);
                self.test(&ids)?;
                let none = self.region.blocks[b].none.ok_or(TooMuch)?;
                ids.iter().for_each(|id| self.e.used(at, *id));
                self.go(NONE, none)
            }
            Item::Exec(id) => {
                let id = self.e.value(id);
                self.executes(id)?;
                self.e.used(at, id);
                if self.e.this_side() + 1 < self.e.sides() {
                    return Ok(());
                }
                self.end_counters()?;
                self.count_lanes()
            }
            _ => Err(TooMuch),
        }
    }

    /// Has a kernel do an op where a lane is out of the ordinary.
    fn check(&mut self, at: u32, i: usize, check: &Check) -> Made<()> {
        let odd = self.e.value(check.odd);
        let args: Vec<Id> = check.args.iter().map(|id| self.e.value(*id)).collect();
        let results: Vec<Id> = check.results.iter().map(|id| self.e.value(*id)).collect();
        let mut regs = vec![];
        for (j, id) in results.iter().enumerate() {
            regs.push((self.e.in_register(*id)?, j as u32));
        }
        self.test(&[odd])?;
        let from = self.e.m.jump(SOME)?;
        let mut list = vec![];
        for id in &args {
            list.push(match self.e.register_of(*id) {
                Some(r) => Arg::Reg(r),
                None => Arg::Mem(self.e.home(*id).ok_or(TooMuch)?),
            });
        }
        let held = self.e.taken();
        let what = Rare::Call { op: &self.ops[i], args: list, results: regs };
        self.stubs.push(Stub { from: [Some(from), None], back: self.e.m.here(), what, held });
        for id in args.iter().chain(&results).chain([&odd]) {
            self.e.used(at, *id);
        }
        Ok(())
    }
}

/// The nodes that an item reads.
pub fn reads(region: &Loop, body: &Body, item: Item, mut f: impl FnMut(Id)) {
    match item {
        Item::Store(_, id) | Item::Move(_, id) | Item::Test(id) | Item::Exec(id) => f(id),
        Item::Wide(_, a, b) => [a, b].into_iter().for_each(f),
        Item::Compute(id) => body.nodes[id as usize].operands().for_each(f),
        Item::Check(i) => {
            let check = &region.checks[i as usize];
            check.args.iter().chain(&check.results).chain([&check.odd]).for_each(|id| f(*id));
        }
        _ => (),
    }
}
