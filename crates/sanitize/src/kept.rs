//! Things by number, of which the same one is asked for many times in a row.

use crate::hash::Map;

pub(crate) struct Kept<T> {
    items: Vec<T>,
    index: Map<u32, usize>,
    last: Option<(u32, usize)>,
    /// Places of what was removed.
    free: Vec<usize>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { items: vec![], index: Map::default(), last: None, free: vec![] }
    }
}

impl<T: Default> Kept<T> {
    #[inline]
    pub fn get(&self, key: u32) -> Option<&T> {
        match self.last {
            Some((last, place)) if last == key => Some(&self.items[place]),
            _ => self.index.get(&key).map(|&place| &self.items[place]),
        }
    }

    /// What there is of this number, or a new one.
    #[inline]
    pub fn of(&mut self, key: u32) -> &mut T {
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => self.find(key),
        };
        &mut self.items[place]
    }

    fn find(&mut self, key: u32) -> usize {
        let place = match self.index.get(&key) {
            Some(&place) => place,
            None => {
                let place = self.free.pop().unwrap_or(self.items.len());
                if place == self.items.len() {
                    self.items.push(T::default());
                }
                self.index.insert(key, place);
                place
            }
        };
        self.last = Some((key, place));
        place
    }

    #[inline]
    pub fn has(&self, key: u32) -> bool {
        self.last.is_some_and(|(last, _)| last == key) || self.index.contains_key(&key)
    }

    pub fn remove(&mut self, key: u32) {
        if let Some(place) = self.index.remove(&key) {
            self.items[place] = T::default();
            self.free.push(place);
            self.last = None;
        }
    }
}
