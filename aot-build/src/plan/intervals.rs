//! Bare problems as comma-separated values: a header line, then one buffer a
//! line with `id`, `lower` and `upper` (its half-open live interval), `size`
//! and optionally `alignment`, in any order of columns.

use std::collections::BTreeMap;
use std::fmt;

use super::problem::{Buffer, Problem};

/// A bare problem: buffers of one pool, with names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// The names, by [`super::BufferId::index`].
    pub ids: Vec<String>,
    /// The buffers.
    pub problem: Problem,
}

/// Why a line was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalsError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: IntervalsFault,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalsFault {
    /// There is no header line.
    NoHeader,
    /// The header lacks this column.
    MissingColumn(&'static str),
    /// The header names a column that means nothing here, or one twice.
    Column(String),
    /// The line has another number of fields than the header.
    Fields {
        /// Fields of the line.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// A field is not a whole number that the machine can count to.
    Number {
        /// The column.
        column: &'static str,
        /// The field.
        found: String,
    },
    /// The live interval ends before it starts.
    Live {
        /// First step.
        lower: usize,
        /// The step after the last.
        upper: usize,
    },
    /// The alignment is not a power of two.
    Alignment(usize),
    /// Another line has the same id.
    Repeated {
        /// The id.
        id: String,
        /// The line that has it too.
        first: usize,
    },
}

impl fmt::Display for IntervalsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            IntervalsFault::NoHeader => f.write_str("expected the header `id,lower,upper,size[,alignment]`"),
            IntervalsFault::MissingColumn(column) => {
                write!(f, "the header has no column `{column}`; expected `id,lower,upper,size[,alignment]`")
            }
            IntervalsFault::Column(found) => {
                write!(f, "unexpected column `{found}`; expected `id,lower,upper,size[,alignment]`")
            }
            IntervalsFault::Fields { found, expected } => {
                write!(f, "{found} fields; the header has {expected}")
            }
            IntervalsFault::Number { column, found } => {
                write!(f, "{column} `{found}` is not a whole number from 0 to {}", usize::MAX)
            }
            IntervalsFault::Live { lower, upper } => {
                write!(f, "upper {upper} is less than lower {lower}")
            }
            IntervalsFault::Alignment(found) => {
                write!(f, "alignment {found} is not a power of two")
            }
            IntervalsFault::Repeated { id, first } => {
                write!(f, "id `{id}` is already on line {first}")
            }
        }
    }
}

impl std::error::Error for IntervalsError {}

const COLUMNS: [&str; 5] = ["id", "lower", "upper", "size", "alignment"];

/// Reads a bare problem. Empty lines are skipped.
pub fn read_intervals(text: &str) -> Result<Intervals, IntervalsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (number, header) = lines.next().ok_or(IntervalsError { line: 1, fault: IntervalsFault::NoHeader })?;
    let at = |number: usize| move |fault| IntervalsError { line: number + 1, fault };
    let columns = Columns::read(header).map_err(at(number))?;
    let mut intervals = Intervals { ids: Vec::new(), problem: Problem::new() };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in lines {
        let (id, buffer) = columns.buffer(line).map_err(at(number))?;
        if let Some(first) = seen.insert(id.clone(), number + 1) {
            return Err(at(number)(IntervalsFault::Repeated { id, first }));
        }
        intervals.ids.push(id);
        intervals.problem.add(buffer);
    }
    Ok(intervals)
}

/// Where each of [`COLUMNS`] is on a line.
struct Columns {
    positions: [Option<usize>; 5],
    count: usize,
}

impl Columns {
    fn read(header: &str) -> Result<Self, IntervalsFault> {
        let mut positions = [None; 5];
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        for (position, name) in names.iter().enumerate() {
            let known = COLUMNS.iter().position(|column| column == name);
            match known {
                Some(column) if positions[column].is_none() => positions[column] = Some(position),
                _ => return Err(IntervalsFault::Column((*name).to_owned())),
            }
        }
        match (0..4).find(|&column| positions[column].is_none()) {
            Some(column) => Err(IntervalsFault::MissingColumn(COLUMNS[column])),
            None => Ok(Self { positions, count: names.len() }),
        }
    }

    fn buffer(&self, line: &str) -> Result<(String, Buffer), IntervalsFault> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != self.count {
            return Err(IntervalsFault::Fields { found: fields.len(), expected: self.count });
        }
        let field = |column: usize| self.positions[column].map(|position| fields[position]);
        let number = |column: usize, missing: usize| match field(column) {
            None => Ok(missing),
            Some(text) => text
                .parse()
                .map_err(|_| IntervalsFault::Number { column: COLUMNS[column], found: text.to_owned() }),
        };
        let (lower, upper) = (number(1, 0)?, number(2, 0)?);
        if upper < lower {
            return Err(IntervalsFault::Live { lower, upper });
        }
        let alignment: usize = number(4, 1)?;
        if !alignment.is_power_of_two() {
            return Err(IntervalsFault::Alignment(alignment));
        }
        let buffer = Buffer::new(number(3, 0)?, lower..upper).aligned(alignment);
        Ok((field(0).unwrap_or_default().to_owned(), buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_any_order() {
        let text = "\u{feff}size, id ,upper,lower,alignment\r\n\r\n64,a,3,0,16\r\n0,b,1,1,1\r\n";
        let read = read_intervals(text).unwrap();
        assert_eq!(read.ids, ["a", "b"]);
        assert_eq!(read.problem.buffers(), [Buffer::new(64, 0..3).aligned(16), Buffer::new(0, 1..1)]);
    }

    #[test]
    fn faults_name_line_and_field() {
        for (text, expected) in [
            ("", "line 1: expected the header `id,lower,upper,size[,alignment]`"),
            (
                "id,lower,upper\n",
                "line 1: the header has no column `size`; expected `id,lower,upper,size[,alignment]`",
            ),
            ("id,id\n", "line 1: unexpected column `id`; expected `id,lower,upper,size[,alignment]`"),
            ("id,lower,upper,size\na,0,1\n", "line 2: 3 fields; the header has 4"),
            (
                "id,lower,upper,size\na,0,1,-4\n",
                "line 2: size `-4` is not a whole number from 0 to 18446744073709551615",
            ),
            ("id,lower,upper,size\n\na,3,1,4\n", "line 3: upper 1 is less than lower 3"),
            ("id,lower,upper,size,alignment\na,0,1,4,12\n", "line 2: alignment 12 is not a power of two"),
            ("id,lower,upper,size\na,0,1,4\na,0,1,4\n", "line 3: id `a` is already on line 2"),
        ] {
            assert_eq!(read_intervals(text).unwrap_err().to_string(), expected);
        }
    }
}
