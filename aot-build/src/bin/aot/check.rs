//! `aot check`: what a model needs, or everything that is wrong with it.

use aot_build::report::Summary;

use crate::console::{Console, Failure};
use crate::settings::Subject;

/// Says what a model needs, or everything that is wrong with it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) subject: Subject,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console) -> Result<(), Failure> {
    let summary = Summary::new(&arguments.subject.compile()?);
    if arguments.subject.json {
        console.json(&summary)?
    } else {
        console.print(&summary)?
    }
    Ok(())
}
