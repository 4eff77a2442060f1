//! Element types by name, for attributes in files.

use std::fmt;

use aot_rt::DType;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

const NAMES: [&str; DType::ALL.len()] = {
    let mut names = [""; DType::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = DType::ALL[i].name();
        i += 1;
    }
    names
};

pub(crate) fn serialize<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(dtype.name())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
    // A visitor, not `String::deserialize`: its errors get the place of the name.
    struct Name;
    impl Visitor<'_> for Name {
        type Value = DType;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an element type")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<DType, E> {
            DType::from_name(name).ok_or_else(|| E::unknown_variant(name, &NAMES))
        }
    }
    deserializer.deserialize_str(Name)
}
