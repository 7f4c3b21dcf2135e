//! Functions of the user of this crate, in SQL.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::plan_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use crate::rows::RowsTable;
use crate::table::TableFunction;

/// Computes a column of so many rows from columns.
pub type Call = dyn Fn(&[ArrayRef], usize) -> std::result::Result<ArrayRef, String> + Send + Sync;

/// A function of columns.
#[derive(Clone)]
pub struct Function {
    pub name: &'static str,
    pub returns: DataType,
    pub call: Arc<Call>,
}

impl Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// The function as the engine calls it.
pub(crate) struct Scalar {
    function: Function,
    signature: Signature,
}

impl Scalar {
    pub fn new(function: Function) -> Scalar {
        Scalar { function, signature: Signature::variadic_any(Volatility::Stable) }
    }
}

impl Debug for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.function.name)
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.function.returns.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.iter().map(|value| value.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let array = (self.function.call)(&arrays, rows).map_err(|why| DataFusionError::External(why.into()))?;
        Ok(ColumnarValue::Array(array))
    }
}

/// A table function as the engine calls it.
#[derive(Debug)]
pub(crate) struct Tabular(pub Arc<dyn TableFunction>);

impl TableFunctionImpl for Tabular {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let mut texts = Vec::new();
        for argument in args.exprs() {
            match argument {
                Expr::Literal(value, _) if value.try_as_str().flatten().is_some() => {
                    texts.push(value.try_as_str().flatten().unwrap_or_default().to_string());
                }
                other => return plan_err!("{other}: an argument is a text in single quotes"),
            }
        }
        match self.0.table(&texts) {
            Ok(rows) => Ok(Arc::new(RowsTable(rows))),
            Err(why) => plan_err!("{why}"),
        }
    }
}
