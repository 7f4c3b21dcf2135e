//! A table of rows that are made when they are asked for, on a thread of their own, a few batches ahead of who reads them.

use std::fmt::{self, Debug};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};

/// Batches that are made before the first was read.
const AHEAD: usize = 4;

/// Takes a batch; `Break` when no more is wanted.
pub type Give<'a> = dyn FnMut(RecordBatch) -> ControlFlow<()> + 'a;

/// Rows that are made when they are asked for.
pub trait Rows: Debug + Send + Sync + 'static {
    /// The columns.
    fn schema(&self) -> SchemaRef;

    /// Makes the rows, in batches of all columns. What is not wanted may be left out; it is judged again.
    fn make(&self, wanted: &Wanted, give: &mut Give<'_>) -> std::result::Result<(), String>;
}

/// Which rows and columns are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// By name, of each text column the values that it may have.
    equal: Vec<(String, Vec<String>)>,
    /// By name, of each time column the least and the most, nanoseconds since the epoch.
    between: Vec<(String, Option<i64>, Option<i64>)>,
    /// The columns that are read; `None` for all.
    columns: Option<Vec<String>>,
}

impl Wanted {
    /// Can a row with this text be wanted?
    pub fn text(&self, column: &str, text: &str) -> bool {
        self.equal.iter().filter(|(name, _)| name == column).all(|(_, values)| values.iter().any(|v| v == text))
    }

    /// First and last instant that a time column can have.
    pub fn time(&self, column: &str) -> (i64, i64) {
        let (mut from, mut to) = (i64::MIN, i64::MAX);
        for (_, least, most) in self.between.iter().filter(|(name, ..)| name == column) {
            from = from.max(least.unwrap_or(i64::MIN));
            to = to.min(most.unwrap_or(i64::MAX));
        }
        (from, to)
    }

    /// Is a column read? One that is not may be all NULL.
    pub fn column(&self, name: &str) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.iter().any(|c| c == name))
    }

    /// Takes a condition in, if it is of a kind that rows can be chosen by.
    fn add(&mut self, condition: &Expr) -> bool {
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, op, &**right) {
                (left, Operator::And, right) => self.add(left) | self.add(right),
                (Expr::Column(column), op, Expr::Literal(value, _)) => self.compare(&column.name, *op, value),
                (Expr::Literal(value, _), op, Expr::Column(column)) => op.swap().is_some_and(|op| self.compare(&column.name, op, value)),
                _ => false,
            },
            Expr::InList(list) if !list.negated => {
                let Expr::Column(column) = &*list.expr else { return false };
                let text = |e: &Expr| match e {
                    Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
                    _ => None,
                };
                match list.list.iter().map(text).collect::<Option<Vec<String>>>() {
                    Some(values) => {
                        self.equal.push((column.name.clone(), values));
                        true
                    }
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn compare(&mut self, column: &str, op: Operator, value: &ScalarValue) -> bool {
        if let (Operator::Eq, Some(Some(text))) = (op, value.try_as_str()) {
            self.equal.push((column.to_string(), vec![text.to_string()]));
            return true;
        }
        let ScalarValue::TimestampNanosecond(Some(at), _) = value else { return false };
        let (least, most) = match op {
            Operator::Eq => (Some(*at), Some(*at)),
            Operator::Gt | Operator::GtEq => (Some(*at), None),
            Operator::Lt | Operator::LtEq => (None, Some(*at)),
            _ => return false,
        };
        self.between.push((column.to_string(), least, most));
        true
    }
}

/// The table as the engine reads it.
#[derive(Debug)]
pub(crate) struct RowsTable(pub Arc<dyn Rows>);

#[async_trait]
impl TableProvider for RowsTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let told = |filter: &&Expr| match Wanted::default().add(filter) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(told).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = self.0.schema();
        let mut wanted = Wanted::default();
        filters.iter().for_each(|filter| {
            wanted.add(filter);
        });
        let name = |i: &usize| schema.fields().get(*i).map(|f| f.name().clone());
        wanted.columns = projection.map(|columns| columns.iter().filter_map(name).collect());
        let making = Arc::new(Making { rows: self.0.clone(), schema: schema.clone(), wanted });
        Ok(Arc::new(StreamingTableExec::try_new(schema, vec![making], projection, None, false, limit)?))
    }
}

struct Making {
    rows: Arc<dyn Rows>,
    schema: SchemaRef,
    wanted: Wanted,
}

impl Debug for Making {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.rows)
    }
}

impl PartitionStream for Making {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStreamBuilder::new(self.schema.clone(), AHEAD);
        let (to, rows, wanted) = (builder.tx(), self.rows.clone(), self.wanted.clone());
        builder.spawn_blocking(move || {
            let mut give = |batch| match to.blocking_send(Ok(batch)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            rows.make(&wanted, &mut give).map_err(|why| DataFusionError::External(why.into()))
        });
        builder.build()
    }
}
