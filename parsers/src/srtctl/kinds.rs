//! Kinds of srt-slurm's own lines: the direct runner, the sweep orchestrator, the batch script and its benchmark scripts.

use crate::event::Kind;

macro_rules! kinds {
    ($($id:ident $name:literal $about:literal)*) => {
        $(pub static $id: Kind = Kind { name: $name, about: $about, words: "" };)*
        /// All of them.
        pub static KINDS: &[&Kind] = &[$(&$id),*];
    };
}

kinds! {
    RUN_STARTED "run_started" "the driver began: the direct runner named its run directory, the orchestrator its sweep, or the batch script its start"
    RUN_FACT "run_fact" "the driver says what the run is: job, name, configuration, nodes"
    PHASE_STARTED "phase_started" "the driver began a phase of the start (`phase`); does not prove that it ended"
    PROCESS_STARTED "process_started" "the driver started a process or is about to; does not prove that it serves"
    INFRA_READY "infra_ready" "the driver saw a service of the infrastructure answer"
    WAITING "waiting" "the driver waits for a service or for the workers' health"
    MODEL_READY "model_ready" "the driver saw the expected workers in the frontend's health; the interval of its polls is the error of this time"
    NOT_READY "not_ready" "the driver gave up waiting, or was told to"
    BENCHMARK_STARTED "benchmark_started" "the driver starts the benchmark command; warm-up is inside of it"
    BENCHMARK_COMPLETED "benchmark_completed" "the benchmark command ended with status 0; does not prove that its requests succeeded"
    BENCHMARK_FAILED "benchmark_failed" "the benchmark command ended with another status"
    LEVEL_STARTED "load_level_started" "the benchmark script begins a concurrency; the line before or behind it has the date"
    LEVEL_COMPLETED "load_level_completed" "the benchmark script ended a concurrency"
    PROCESS_EXITED "process_exited" "a process that the run needs ended by itself; when is known to the interval of the driver's polls"
    RUN_INTERRUPTED "run_interrupted" "the driver was told to stop"
    CLEANUP_STARTED "cleanup_started" "the driver stops its processes: what fails from here on is the teardown's doing"
    RUN_COMPLETED "run_completed" "the sweep ended with status 0"
    RUN_FAILED "run_failed" "the driver gave up, with the reason or the exit status"
    RUN_ENDED "run_ended" "the batch script's end; says nothing of success"
    DRIVER_LOG "driver_log" "another line of srt-slurm's driver, or of a program that prints `date [LEVEL] message` as it does"
}
