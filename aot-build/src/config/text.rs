//! A configuration as text: what is hashed, and what a report shows.

use toml::{Table, Value};

use super::{Config, Pool};

impl Config {
    /// The keys whose values are not the defaults, in alphabetical order, as the table of
    /// a model in `aot.toml` sets them. Equal configurations give equal text.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let defaults = table(&Self::default());
        let set = table(self).into_iter().filter(|(key, value)| defaults.get(key) != Some(value));
        Table::to_string(&set.collect())
    }
}

/// The largest number that TOML can write.
const MAX: u64 = i64::MAX as u64;

fn within_toml(number: usize) -> usize {
    usize::try_from(MAX).map_or(number, |max| number.min(max))
}

fn table(config: &Config) -> Table {
    match Value::try_from(config.within_toml()) {
        Ok(Value::Table(table)) => table,
        other => unreachable!("a configuration is a table of values that TOML knows: {other:?}"),
    }
}

impl Pool {
    fn within_toml(&self) -> Self {
        let [limit, alignment] = [self.limit, self.alignment].map(|bytes| bytes.map(within_toml));
        Self { limit, alignment, ..self.clone() }
    }
}

impl Config {
    /// The same with limits that TOML can write: beyond them, nothing is limited.
    fn within_toml(&self) -> Self {
        Self {
            ram_limit: self.ram_limit.map(within_toml),
            flash_limit: self.flash_limit.map(within_toml),
            pools: self.pools.iter().map(|(name, pool)| (name.clone(), pool.within_toml())).collect(),
            model_limit: self.model_limit.min(MAX),
            source_limit: within_toml(self.source_limit),
            search_limit: self.search_limit.min(MAX),
            max_step_macs: self.max_step_macs.and_then(|macs| macs.get().min(MAX).try_into().ok()),
            batch: self.batch.and_then(|batch| within_toml(batch.get()).try_into().ok()),
            shapes: self
                .shapes
                .iter()
                .map(|shape| shape.iter().copied().map(within_toml).collect())
                .collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{InputPlacement, Memory};

    #[test]
    fn nothing_set_is_no_text() {
        assert_eq!(Config::default().to_toml(), "");
    }

    #[test]
    fn what_is_set_reads_back() {
        let config = Config {
            name: Some("Größe \"1\"\n".into()),
            ram_limit: Some(32_768),
            inputs: InputPlacement::Rows,
            memory: Memory::Min,
            batch: Some(const { std::num::NonZeroUsize::new(3).unwrap() }),
            shapes: vec![vec![1, 2], vec![3]],
            ..Config::default()
        };
        let text = config.to_toml();
        let lines: Vec<_> = text.lines().filter(|line| line.contains(" = ")).collect();
        assert_eq!(lines.first(), Some(&"batch = 3"));
        assert!(lines.contains(&"inputs = \"rows\"") && lines.contains(&"ram_limit = 32768"), "{text}");
        let read = text.parse::<Table>().unwrap();
        assert_eq!(read, table(&config).into_iter().filter(|(key, _)| read.contains_key(key)).collect());
        assert_eq!(read.len(), 6);
        assert_eq!(read["name"].as_str(), config.name.as_deref());
    }

    #[test]
    fn limits_beyond_those_of_toml_are_none() {
        let config = |limit| Config { ram_limit: Some(limit), ..Config::default() };
        assert_eq!(config(usize::MAX).to_toml(), config(i64::MAX as usize).to_toml());
        let batch = std::num::NonZeroUsize::new(usize::MAX);
        let config =
            Config { model_limit: u64::MAX, shapes: vec![vec![usize::MAX]], batch, ..Config::default() };
        assert!(config.to_toml().contains("model_limit = 9223372036854775807"));
    }
}
