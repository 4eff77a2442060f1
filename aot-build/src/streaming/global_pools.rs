//! Divides means over whole images into sums that grow row by row, and what is made of
//! them, so that a run can end with them.

use aot_rt::DType;
use aot_rt::kernels::{
    AverageF32, AverageI8, Kernel, MeanOfSumsI8, RangeF32, Reduction, SumRowsF32, SumRowsI8, Window2d,
};

use crate::program::{Buffer, BufferId, Operand, Program, Step, Storage, View, Work};

/// The program with every such step divided, if there is one.
pub(super) fn divided(program: &Program) -> Option<Program> {
    let mut divided = Program { steps: Vec::new(), ..program.clone() };
    for step in &program.steps {
        match halves(step, &mut divided.buffers) {
            Some(halves) => divided.steps.extend(halves),
            None => divided.steps.push(step.clone()),
        }
    }
    (divided.steps.len() > program.steps.len()).then_some(divided)
}

/// Rows, columns and channels of an image that is reduced to one cell.
struct Image {
    rows: usize,
    columns: usize,
    channels: usize,
}

fn halves(step: &Step, buffers: &mut Vec<Buffer>) -> Option<[Step; 2]> {
    let [x @ Operand::Buffer(_), y @ Operand::Buffer(_)] = step.operands[..] else { return None };
    let (image, finish, dtype) = match *step.kernel()? {
        Kernel::AveragePool2dI8(p) => {
            let image = whole_window(&p.window, p.channels)?;
            let finish = AverageI8 {
                len: p.channels,
                count: image.rows * image.columns,
                rounding_offset: p.rounding_offset,
                range: p.range,
            };
            (image, Kernel::AverageI8(finish), DType::I32)
        }
        Kernel::AveragePool2dF32(p) => {
            let image = whole_window(&p.window, p.channels)?;
            let count = image.rows * image.columns;
            (image, Kernel::AverageF32(AverageF32 { len: p.channels, count, range: p.range }), DType::F32)
        }
        Kernel::MeanF32(p) => {
            let image = whole_image(&p.reduction)?;
            let range = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };
            let count = image.rows * image.columns;
            (image, Kernel::AverageF32(AverageF32 { len: p.reduction.kept[3], count, range }), DType::F32)
        }
        Kernel::MeanI8(p) => {
            let image = whole_image(&p.reduction)?;
            let count = (image.rows * image.columns) as i32;
            let finish = MeanOfSumsI8 {
                len: image.channels,
                zero: p.input_zero_point.wrapping_mul(count),
                multiplier: p.multiplier,
                shift: p.shift,
                output: p.output,
            };
            (image, Kernel::MeanOfSumsI8(finish), DType::I32)
        }
        _ => return None,
    };
    let Image { rows, columns, channels } = image;
    let sum = match dtype {
        DType::I32 => Kernel::SumRowsI8(SumRowsI8 { rows, columns, channels }),
        _ => Kernel::SumRowsF32(SumRowsF32 { rows, columns, channels }),
    };
    buffers.push(Buffer {
        name: format!("sums of {}", step.name),
        ty: None,
        bytes: channels * dtype.size(),
        alignment: dtype.size(),
        storage: Storage::Workspace,
    });
    let view = View { buffer: BufferId(buffers.len() - 1), offset: 0, dtype, len: channels };
    let sums = Operand::Buffer(view);
    let first = Step {
        name: format!("{}_sums", step.name),
        work: Work::Kernel(sum),
        operands: vec![x, sums],
        ..step.clone()
    };
    Some([first, Step { work: Work::Kernel(finish), operands: vec![sums, y], macs: 0, ..step.clone() }])
}

/// The image under a window that has one position and covers it.
fn whole_window(window: &Window2d, channels: usize) -> Option<Image> {
    let covers = window.kernel == window.input && window.dilation == [1, 1] && window.padding == [0, 0];
    let [rows, columns] = window.input;
    (window.batch == 1 && window.output == [1, 1] && covers && rows > 1).then_some(Image {
        rows,
        columns,
        channels,
    })
}

/// The image that is reduced to its channels. Its rows are as many as its columns, where
/// nothing tells them apart: any division into rows will do.
fn whole_image(reduction: &Reduction) -> Option<Image> {
    let Reduction { kept: [1, 1, 1, channels], kept_strides, reduced: [1, 1, 1, cells], reduced_strides } =
        *reduction
    else {
        return None;
    };
    (kept_strides[3] == 1 && reduced_strides[3] == channels && cells > 1).then_some(Image {
        rows: cells,
        columns: 1,
        channels,
    })
}
