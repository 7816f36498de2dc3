//! The values that workflows store, in memory.

use crate::{
    memory::MemoryStore,
    model::id::Tenant,
    seams::{MemoryQuery, NewMemory, Remembered},
};

impl MemoryStore {
    pub(super) fn store_value(&self, new: NewMemory) -> u64 {
        let mut contents = self.lock();
        let same = |it: &&(NewMemory, u64)| it.0.tenant == new.tenant && it.0.origin == new.origin;
        if let Some((_, version)) = contents.kept.iter().find(same) {
            return *version;
        }
        let of_key = |it: &&(NewMemory, u64)| {
            it.0.tenant == new.tenant && it.0.namespace == new.namespace && it.0.key == new.key
        };
        let version = contents.kept.iter().filter(of_key).map(|it| it.1).max().unwrap_or(0) + 1;
        contents.kept.push((new, version));
        version
    }

    pub(super) fn kept(&self, tenant: &Tenant, query: &MemoryQuery) -> Vec<Remembered> {
        let contents = self.lock();
        let mut found: Vec<Remembered> = Vec::new();
        for (it, version) in contents.kept.iter().rev().filter(|(it, _)| it.tenant == *tenant) {
            let newest = !found.iter().any(|known| known.namespace == it.namespace && known.key == it.key);
            let remembered = Remembered {
                namespace: it.namespace.clone(),
                key: it.key.clone(),
                version: *version,
                value: it.value.clone(),
                at: it.at,
            };
            let asked_for = query.namespace.as_ref().is_none_or(|name| *name == it.namespace)
                && query.key.as_ref().is_none_or(|key| *key == it.key);
            if newest && asked_for {
                found.push(remembered);
            }
        }
        let is_valid = |it: &Remembered| {
            let expires = contents.kept.iter().find(|(new, version)| {
                new.tenant == *tenant
                    && new.namespace == it.namespace
                    && new.key == it.key
                    && *version == it.version
            });
            expires.and_then(|(new, _)| new.expires).is_none_or(|at| at > query.now)
        };
        found.retain(|it| is_valid(it) && query.fits(it));
        found.truncate(query.limit);
        found
    }
}
