//! Calls, inlined.

use super::function::End;
use super::types::TypeClass;
use super::{Builder, MAX_CALL_DEPTH, Slot};
use crate::ir::*;
use crate::notes::What;
use crate::options::{Error, Result};
use crate::spirv::*;

impl<'m> Builder<'m> {
    /// Inlines a call; false when it never comes back.
    pub(super) fn call(&mut self, i: Code<'m>) -> Result<bool> {
        let f = self.m.function(i.word(3)?).ok_or_else(|| i.bad("the callee is not a function"))?;
        let args = i.rest(4).iter().map(|&a| self.slot(a, i.at)).collect::<Result<Vec<Slot>>>()?;
        let Some((start, len)) = self.inlined(&i, f, &args)? else { return Ok(false) };
        let (ty, _) = self.result(&i)?;
        if len != self.types.get(ty).scalars as usize {
            return Err(i.bad("the result is not of the call's type"));
        }
        let new = self.pool.len();
        self.pool.extend_from_within(start..start + len);
        if self.types.kind(ty) != TypeClass::Void {
            self.define_checked(&i, new)?;
        }
        self.note(&i, What::Leave)?;
        Ok(true)
    }

    /// Inlines a function that `i` calls; the result's place in the pool, or `None` when it never comes back.
    pub(super) fn inlined(&mut self, i: &Code, f: usize, args: &[Slot]) -> Result<Option<(usize, usize)>> {
        let Some(info) = self.infos[f].clone() else { return Err(i.bad("the callee was not looked at")) };
        if args.len() != info.params.len() {
            return Err(i.bad("the wrong number of arguments"));
        }
        for (&p, &s) in info.params.iter().zip(args) {
            self.ids[p as usize] = s;
            self.keep_phi_pointer(p, i.at)?;
        }
        self.depth += 1;
        if self.depth > MAX_CALL_DEPTH {
            return Err(Error::TooLarge("calls nested too deeply".into()));
        }
        let before = (self.debug.file, self.debug.line, self.here, self.mark);
        let caller = self.enter_frame(i, self.m.functions[f].id)?;
        let end = self.run_function(f, false)?;
        self.leave_frame(caller);
        (self.debug.file, self.debug.line, self.here) = (before.0, before.1, before.2);
        self.note_origin();
        self.depth -= 1;
        match end {
            End::Never => Ok(None),
            End::Returns(start, len) => {
                if let Some(mark) = before.3.filter(|_| self.mark != before.3) {
                    self.e.push(Inst::Resume(mark), Ty::Void);
                    self.mark = before.3;
                }
                Ok(Some((start, len)))
            }
        }
    }
}
