//! Extents that a file leaves open: -1 in a tensor's signature. The configuration binds
//! those of the inputs; those of all other tensors follow.

use super::schema::{Model, Tensor};
use crate::Config;
use crate::error::{Location, OpError, Problem};
use crate::graph::Shape;

/// How the inputs' open extents are bound.
#[derive(Debug)]
pub(super) struct Bindings<'c>(&'c Config);

/// Checks that the inputs of `model` leave open what `config` binds.
///
/// # Errors
///
/// Key by key.
pub(super) fn bind<'c>(model: &Model<'_>, config: &'c Config) -> Result<Bindings<'c>, Problem> {
    let tensors = model.inputs.iter().filter_map(|index| model.tensors.get(usize::try_from(*index).ok()?));
    // A wrong signature is reported with its tensor.
    let mut open = tensors.map(|tensor| axes(tensor).unwrap_or_default());
    if config.batch.is_some() && !open.any(|axes| axes.contains(&0)) {
        let problem = Problem::new("no input leaves its first extent open");
        return Err(problem.at(Location::Key("batch".into())));
    }
    let (inputs, shapes) = (model.inputs.len(), config.shapes.len());
    if shapes != 0 && shapes != inputs {
        let problem = Problem::new(format!("{shapes} shapes for {inputs} inputs"));
        return Err(problem.at(Location::Key("shapes".into())));
    }
    Ok(Bindings(config))
}

impl Bindings<'_> {
    /// The shape of the input at `position`, which the file states as `declared`.
    ///
    /// # Errors
    ///
    /// When an extent stays open, or the configuration wants another one where it is not.
    pub(super) fn of(
        &self,
        position: usize,
        tensor: &Tensor<'_>,
        declared: &Shape,
    ) -> Result<Shape, OpError> {
        let Self(config) = self;
        let open = axes(tensor)?;
        if let Some(wanted) = config.shapes.get(position) {
            let wanted = Shape::new(wanted.clone())?;
            if !wanted.agrees(declared, &open) {
                let text = opened(declared, &open);
                return Err(format!("the key `shapes` states {wanted}, the file {text}").into());
            }
            return Ok(wanted);
        }
        if open.iter().any(|axis| *axis != 0) {
            return Err(OpError::from(format!("shape {} is open", opened(declared, &open))).help(
                "state the shapes of the inputs, `shapes = [[…]]`, or convert the model with fixed ones",
            ));
        }
        let mut extents = declared.to_vec();
        if let (Some(batch), Some(first), [0]) = (config.batch, extents.first_mut(), &open[..]) {
            *first = batch.get();
        }
        Ok(Shape::new(extents)?)
    }
}

/// `[-1, 96, 96, 3]`.
fn opened(shape: &Shape, open: &[usize]) -> String {
    let extents = shape.iter().enumerate();
    let extents = extents.map(|(axis, extent)| if open.contains(&axis) { -1 } else { *extent as i64 });
    format!("{:?}", extents.collect::<Vec<_>>())
}

/// The axes of a tensor whose extents are open.
///
/// # Errors
///
/// When the signature is one of another shape.
pub(super) fn axes(tensor: &Tensor<'_>) -> Result<Vec<usize>, OpError> {
    let signature = tensor.shape_signature()?;
    let (rank, shape) = (signature.len(), &tensor.shape);
    if rank != 0 && rank != shape.len() {
        return Err(format!("shape_signature has rank {rank}, the shape is {shape:?}").into());
    }
    Ok(signature.iter().enumerate().filter(|(_, extent)| **extent < 0).map(|(axis, _)| axis).collect())
}
