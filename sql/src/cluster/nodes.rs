//! A scheduler, an executor: Ballista's own, in a process of their own, with the times set that a user waits for.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::{SessionConfigExt, ballista_aggregate_functions, ballista_scalar_functions, ballista_window_functions};
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionConfig;

use super::stores;
use crate::engine::runtime;
use crate::error::SqlError;
use crate::function::{Function, Scalar};

/// Seconds between an executor's signs of life.
const HEARTBEAT: u64 = 3;
/// Seconds after which an executor without one is taken for dead. Ballista waits for 180, which looks as if it hung.
const DEAD: u64 = 12;
/// Seconds between two looks for dead executors.
const LOOK: u64 = 3;
/// Seconds that a question waits for an executor when there is none.
const NOBODY: u64 = 12;
/// Bytes of a message between nodes: plans over many files are large.
const MESSAGE: u32 = 64 << 20;

/// Where a scheduler listens.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub bind: String,
    pub port: u16,
    /// Functions beside those of SQL that questions may call. Every executor needs the same.
    pub functions: Vec<Function>,
}

impl Scheduler {
    /// Runs until the process ends.
    pub fn run(&self) -> Result<(), SqlError> {
        let address = self.address()?;
        let functions = self.functions.clone();
        let config = SchedulerConfig {
            bind_host: self.bind.clone(),
            bind_port: self.port,
            external_host: self.bind.clone(),
            scheduling_policy: TaskSchedulingPolicy::PushStaged,
            executor_timeout_seconds: DEAD,
            expire_dead_executor_interval_seconds: LOOK,
            no_executors_grace_period_seconds: NOBODY,
            grpc_server_max_decoding_message_size: MESSAGE,
            grpc_server_max_encoding_message_size: MESSAGE,
            grpc_client_max_message_size: MESSAGE,
            override_config_producer: Some(Arc::new(session_config)),
            override_session_builder: Some(Arc::new(move |config: SessionConfig| {
                Ok(SessionStateBuilder::new()
                    .with_config(config)
                    .with_runtime_env(stores::environment()?)
                    .with_default_features()
                    .with_scalar_functions(ballista_scalar_functions().into_iter().chain(functions.iter().map(known)).collect())
                    .with_aggregate_functions(ballista_aggregate_functions())
                    .with_window_functions(ballista_window_functions())
                    .build())
            })),
            ..SchedulerConfig::default()
        };
        runtime(threads())?.block_on(async {
            let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
            start_server(cluster, address, Arc::new(config)).await.map_err(failed)
        })
    }

    fn address(&self) -> Result<SocketAddr, SqlError> {
        let wrong = |why: String| SqlError::Cluster(format!("{}:{}: {why}", self.bind, self.port));
        let mut found = (self.bind.as_str(), self.port).to_socket_addrs().map_err(|e| wrong(e.to_string()))?;
        found.next().ok_or_else(|| wrong("no such host".into()))
    }
}

/// An executor and the scheduler that it works for.
#[derive(Clone, Debug)]
pub struct Executor {
    /// IP address that it listens on, and the name under which others reach it.
    pub bind: String,
    pub external: Option<String>,
    /// For results and for tasks.
    pub ports: (u16, u16),
    pub scheduler: (String, u16),
    pub threads: usize,
    /// Where results of stages are kept until a question is answered.
    pub work_dir: Option<PathBuf>,
    /// Bytes that all its tasks may hold.
    pub memory: u64,
    /// Functions beside those of SQL that questions may call.
    pub functions: Vec<Function>,
}

impl Executor {
    /// Runs until the process ends.
    pub fn run(&self) -> Result<(), SqlError> {
        let config = ExecutorProcessConfig {
            bind_host: self.bind.clone(),
            external_host: self.external.clone().or_else(|| Some(self.bind.clone())),
            port: self.ports.0,
            grpc_port: self.ports.1,
            scheduler_host: self.scheduler.0.clone(),
            scheduler_port: self.scheduler.1,
            scheduler_connect_timeout_seconds: 30,
            vcores: self.threads.max(1),
            task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
            work_dir: self.work_dir.as_ref().map(|dir| dir.display().to_string()),
            job_data_ttl_seconds: 3_600,
            job_data_clean_up_interval_seconds: 600,
            grpc_max_decoding_message_size: MESSAGE,
            grpc_max_encoding_message_size: MESSAGE,
            executor_heartbeat_interval_seconds: HEARTBEAT,
            memory_pool_size: Some(self.memory),
            override_config_producer: Some(Arc::new(session_config)),
            override_runtime_producer: Some(Arc::new(|_: &SessionConfig| stores::environment())),
            override_function_registry: Some(Arc::new(self.registry())),
            ..ExecutorProcessConfig::default()
        };
        runtime(self.threads)?.block_on(start_executor_process(Arc::new(config))).map_err(failed)
    }

    fn registry(&self) -> BallistaFunctionRegistry {
        let mut registry = BallistaFunctionRegistry::default();
        registry.scalar_functions.extend(self.functions.iter().map(|function| (function.name.to_string(), known(function))));
        registry
    }
}

/// A function as nodes know it.
fn known(function: &Function) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(Scalar::new(function.clone())))
}

fn session_config() -> SessionConfig {
    SessionConfig::new_with_ballista().with_information_schema(false)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn failed(error: ballista_core::error::BallistaError) -> SqlError {
    SqlError::Cluster(error.to_string())
}
