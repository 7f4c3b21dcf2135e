//! Asks.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use corr_metrics::guard;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::utils::datafusion_strsim::levenshtein;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::allowed;
use crate::error::SqlError;
use crate::files::FilesTable;
use crate::function::{Function, Scalar, Tabular};
use crate::rows::RowsTable;
use crate::table::{Table, TableFunction};

/// Views over views that are followed: more is a circle.
const DEEP: usize = 16;
/// Names that are offered for one that is not there.
const NEAR: usize = 3;
/// Of each worker thread: plans are trees, and walked by calls.
const STACK: usize = 8 << 20;

/// What a question may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes that sorts, joins and groups may hold; what has no room goes to temporary files.
    pub memory: usize,
    /// Parts that are read at once.
    pub threads: usize,
}

/// What of a table a question reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub table: String,
    pub columns: Vec<String>,
}

/// Tables, and the engine that answers questions over them.
pub struct Engine {
    runtime: Runtime,
    context: SessionContext,
    tables: BTreeMap<String, Table>,
    remote: bool,
    /// The longest time without a sign of an answer; `None` waits for ever.
    patience: Option<Duration>,
    /// Ctrl-C was pressed since the engine was made.
    interrupted: watch::Receiver<bool>,
}

impl Debug for Engine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Engine").field("tables", &self.tables.keys()).field("remote", &self.remote).finish_non_exhaustive()
    }
}

/// A runtime for nodes and stores.
#[cfg(feature = "cluster")]
pub(crate) fn runtime(threads: usize) -> Result<Runtime, SqlError> {
    built(&mut threads_of(threads))
}

/// A runtime for an engine: what its threads panic about comes to who waits for the answer.
pub(crate) fn quiet_runtime(threads: usize) -> Result<Runtime, SqlError> {
    built(threads_of(threads).on_thread_start(guard::quiet))
}

fn threads_of(threads: usize) -> tokio::runtime::Builder {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(threads.max(1)).thread_stack_size(STACK).enable_all();
    builder
}

fn built(builder: &mut tokio::runtime::Builder) -> Result<Runtime, SqlError> {
    builder.build().map_err(|e| SqlError::Answer(format!("no threads to answer with: {e}")))
}

/// Listens for Ctrl-C from now on: between two questions to the engine it is not lost.
fn listen(runtime: &Runtime) -> watch::Receiver<bool> {
    let (pressed, interrupted) = watch::channel(false);
    #[cfg(unix)]
    let heard = {
        let _within = runtime.enter();
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
    };
    runtime.spawn(async move {
        #[cfg(unix)]
        let was = match heard {
            Ok(mut heard) => heard.recv().await.is_some(),
            Err(_) => false,
        };
        #[cfg(not(unix))]
        let was = tokio::signal::ctrl_c().await.is_ok();
        if was {
            // Kept: who asks later is told too.
            let _ = pressed.send(true);
            std::future::pending::<()>().await;
        }
    });
    interrupted
}

/// How questions are planned, here and on a cluster.
pub(crate) fn config(threads: usize) -> SessionConfig {
    SessionConfig::new().with_target_partitions(threads.max(1)).with_information_schema(false)
}

impl Engine {
    /// An engine on this machine, without a table.
    pub fn local(limits: Limits) -> Result<Engine, SqlError> {
        let memory = Arc::new(FairSpillPool::new(limits.memory));
        let environment = RuntimeEnvBuilder::new().with_memory_pool(memory).build_arc()?;
        let context = SessionContext::new_with_config_rt(config(limits.threads), environment);
        let runtime = quiet_runtime(limits.threads)?;
        let interrupted = listen(&runtime);
        Ok(Engine { runtime, context, tables: BTreeMap::new(), remote: false, patience: None, interrupted })
    }

    /// An engine whose plans are run elsewhere.
    #[cfg(feature = "cluster")]
    pub(crate) fn over(runtime: Runtime, context: SessionContext, patience: Duration) -> Engine {
        let interrupted = listen(&runtime);
        Engine { runtime, context, tables: BTreeMap::new(), remote: true, patience: Some(patience), interrupted }
    }

    /// Adds a table, or a view.
    pub fn add(&mut self, name: &str, table: Table) {
        self.tables.insert(name.to_string(), table);
    }

    /// Adds a function of columns.
    pub fn add_function(&mut self, function: Function) {
        self.context.register_udf(ScalarUDF::new_from_impl(Scalar::new(function)));
    }

    /// Adds a table function.
    pub fn add_table_function(&mut self, name: &str, function: Arc<dyn TableFunction>) {
        self.context.register_udtf(name, Arc::new(Tabular(function)));
    }

    /// The tables that a question names.
    pub fn names(&self, sql: &str) -> Result<Vec<String>, SqlError> {
        let state = self.context.state();
        let dialect = state.config_options().sql_parser.dialect;
        let statement = state.sql_to_statement(sql, &dialect)?;
        allowed::statement(&statement)?;
        Ok(state.resolve_table_references(&statement)?.iter().map(|r| r.table().to_string()).collect())
    }

    /// Plans a question and begins to answer it.
    pub fn ask(&self, sql: &str) -> Result<Answer<'_>, SqlError> {
        let begun = self.wait(async {
            tokio::select! {
                biased;
                () = self.interruption() => Err(SqlError::Interrupted),
                error = self.impatience() => Err(error),
                begun = self.begin(sql) => begun,
            }
        });
        begun.map_err(|e| self.told(e))
    }

    /// Waits for the engine, which gives the panics of its tasks on.
    fn wait<T>(&self, what: impl Future<Output = Result<T, SqlError>>) -> Result<T, SqlError> {
        guard::guard(|| self.runtime.block_on(what)).unwrap_or_else(|why| Err(SqlError::Broken(why)))
    }

    /// Was Ctrl-C pressed since the engine was made? For those who ready tables.
    pub fn interrupted(&self) -> bool {
        *self.interrupted.borrow()
    }

    /// Ends when Ctrl-C is pressed, or was.
    async fn interruption(&self) {
        if self.interrupted.clone().wait_for(|pressed| *pressed).await.is_err() {
            // Nobody listens: the system ends the process.
            std::future::pending::<()>().await;
        }
    }

    /// Ends when there was no sign of an answer for too long: a cluster that lost an executor may never say so.
    async fn impatience(&self) -> SqlError {
        let Some(patience) = self.patience else { return std::future::pending().await };
        tokio::time::sleep(patience).await;
        SqlError::Cluster(format!(
            "no sign of an answer for {} s: an executor may be lost and its work with it; ask again, or wait longer by --patience",
            patience.as_secs()
        ))
    }

    async fn begin(&self, sql: &str) -> Result<Answer<'_>, SqlError> {
        let plan = self.plan(sql, true, 0).await?;
        let reads = reads(&self.context.state().optimize(&plan)?)?;
        let stream = self.context.execute_logical_plan(plan).await?.execute_stream().await?;
        Ok(Answer { engine: self, schema: stream.schema(), reads, stream })
    }

    /// The plan of a question, of which every table that it names is known then.
    async fn plan(&self, sql: &str, question: bool, depth: usize) -> Result<LogicalPlan, SqlError> {
        let state = self.context.state();
        let dialect = state.config_options().sql_parser.dialect;
        let statement = state.sql_to_statement(sql, &dialect)?;
        if question {
            allowed::statement(&statement)?;
        }
        for reference in state.resolve_table_references(&statement)? {
            let name = reference.table().to_string();
            if reference.schema().is_none() {
                self.settle(&name, depth).await?;
            }
        }
        let plan = self.context.state().statement_to_plan(statement).await?;
        if question {
            allowed::plan(&plan)?;
        }
        Ok(plan)
    }

    /// Makes a table known to the engine. Views are planned when they are asked for: there is one for every kind of record.
    async fn settle(&self, name: &str, depth: usize) -> Result<(), SqlError> {
        if depth > DEEP || self.context.table_exist(name)? {
            return Ok(());
        }
        let Some(table) = self.tables.get(name) else {
            return if self.context.state().table_functions().contains_key(name) { Ok(()) } else { Err(self.unknown(name)) };
        };
        match table {
            Table::Files(files) => self.context.register_table(name, Arc::new(FilesTable(files.clone())))?,
            Table::Rows(rows) => self.context.register_table(name, Arc::new(RowsTable(rows.clone())))?,
            Table::View(sql) => {
                let plan = Box::pin(self.plan(sql, false, depth + 1)).await?;
                let view = self.context.execute_logical_plan(plan).await?.into_view();
                self.context.register_table(name, view)?
            }
            #[cfg(feature = "cluster")]
            Table::Shared(shared) => self.context.register_table(name, shared.table()?)?,
        };
        Ok(())
    }

    /// There may be hundreds of views: those are named that the name can be a slip of.
    fn unknown(&self, name: &str) -> SqlError {
        let near = |known: &&String| !known.starts_with('_') && levenshtein(name, known) <= 2.max(name.len() / 4);
        let near: Vec<&str> = self.tables.keys().filter(near).map(String::as_str).take(NEAR).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        SqlError::Question(format!("there is no table {name:?}{hint}; `corr schema` lists all"))
    }

    /// The error as it is told: what comes from the network is not left as the network said it.
    fn told(&self, error: SqlError) -> SqlError {
        #[cfg(feature = "cluster")]
        if self.remote {
            return crate::cluster::told(error);
        }
        error
    }
}

/// An answer, batch by batch.
pub struct Answer<'e> {
    engine: &'e Engine,
    /// The columns of the answer.
    pub schema: SchemaRef,
    /// What it reads.
    pub reads: Vec<Read>,
    stream: SendableRecordBatchStream,
}

impl Debug for Answer<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Answer").field("schema", &self.schema).field("reads", &self.reads).finish_non_exhaustive()
    }
}

impl Answer<'_> {
    /// The next rows; `None` behind the last.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, SqlError> {
        let stream = &mut self.stream;
        let next = self.engine.wait(async {
            tokio::select! {
                biased;
                () = self.engine.interruption() => Err(SqlError::Interrupted),
                error = self.engine.impatience() => Err(error),
                next = stream.next() => next.transpose().map_err(SqlError::from),
            }
        });
        next.map_err(|e| self.engine.told(e))
    }
}

/// The tables and columns that a plan reads, of views those below them.
fn reads(plan: &LogicalPlan) -> Result<Vec<Read>, SqlError> {
    let mut reads = Vec::new();
    let mut note = |node: &LogicalPlan| {
        if let LogicalPlan::TableScan(scan) = node {
            let columns = scan.projected_schema.fields().iter().map(|f| f.name().clone()).collect();
            reads.push(Read { table: scan.table_name.table().to_string(), columns });
        }
        Ok(TreeNodeRecursion::Continue)
    };
    match plan {
        LogicalPlan::Explain(explain) => explain.plan.apply_with_subqueries(&mut note),
        plan => plan.apply_with_subqueries(&mut note),
    }?;
    Ok(reads)
}
