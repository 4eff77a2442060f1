//! Put into the bundle of the digits by the tests of the tool: what a step writes is where the
//! metadata says.

use aot_rt::metadata::Metadata;
use aot_rt::{Access, Elements, Instrument, StepInfo};
use model_digits::Digits;

const METADATA: &Metadata = Digits::METADATA;

/// Where the workspace starts, and the steps so far.
struct Observer {
    base: usize,
    steps: usize,
}

impl Instrument for Observer {
    fn after(&mut self, step: &'static StepInfo, outputs: &[Elements<'_>]) {
        let known = &METADATA.steps[self.steps];
        assert!(std::ptr::eq(known.info, step) || *known.info == *step);
        let written = known.operands.iter().filter(|operand| operand.access == Access::Write);
        for (operand, output) in written.zip(outputs) {
            let Elements::I8(output) = output else { panic!("{output:?}") };
            assert_eq!(operand.offset, Some(output.as_ptr().addr() - self.base), "{}", step.name);
            assert_eq!(operand.len, output.len(), "{}", step.name);
            let tensor = &METADATA.tensors[operand.tensor.expect("it is no constant")];
            assert!(tensor.steps[0] <= self.steps && self.steps <= tensor.steps[1], "{}", step.name);
        }
        self.steps += 1;
    }
}

#[test]
fn steps_write_where_the_metadata_says() {
    let mut digits = Box::new(Digits::new());
    let input = METADATA.tensors.iter().find(|tensor| tensor.name == METADATA.inputs[0].name);
    let offset = input.and_then(|input| input.offset).expect("the input is in the workspace");
    let mut observer = Observer { base: digits.image_mut().as_ptr().addr() - offset, steps: 0 };
    digits.run_with(&mut observer, &[0; 64]);
    assert_eq!(observer.steps, METADATA.steps.len());
}
