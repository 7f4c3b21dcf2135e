//! Generated scheduler log: what one SGLang 0.5.12 server with four ranks writes, request log at level 0.
//!
//! The shapes are those of the server's own lines; ids, numbers and order come from a seed, so the same arguments give the same bytes.
//! benches/README.md says what mix it has.

use std::fmt::Write as _;
use std::io::{self, Write};

/// A request id that stands in exactly three lines: received, retracted, finished.
pub const RARE_RID: &str = "5eedc0ffee0ddba11facade0fba5eba1";
/// A word that stands in one line of every hundredth traceback or so.
pub const RARE_WORD: &str = "OutOfMemoryError";
/// A word of about one line in two hundred.
pub const MEDIUM_WORD: &str = "Retract";

/// Which spelling the request log's lines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// Every member of the request, as 0.5.12 prints it at level 0: about 1.2 kB received and 1.9 kB finished.
    Full,
    /// The first few members only: about 200 bytes. What share of a log the batch lines have then is that of a server with short requests lines.
    Short,
}

/// What was written, counted while it was: the true answers of what is asked of it.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub bytes: u64,
    pub lines: u64,
    pub records: u64,
    /// Decode lines of each rank.
    pub decode: [u64; RANKS as usize],
    /// Records with [`RARE_RID`], [`RARE_WORD`], and a word `Retract` (not that of `num_retractions`).
    pub with_rid: u64,
    pub with_rare: u64,
    pub with_medium: u64,
    /// Records of each second from [`BEGIN`] on.
    pub seconds: Vec<u32>,
}

impl Written {
    /// A hundredth of the log's time, from its middle: first second, second behind the last, records between.
    pub fn window(&self) -> (u64, u64, u64) {
        let since = self.seconds.len() / 2;
        let until = (since + (self.seconds.len() / 100).max(1)).min(self.seconds.len());
        let records = self.seconds.get(since..until).unwrap_or(&[]).iter().map(|n| u64::from(*n)).sum();
        (BEGIN + since as u64, BEGIN + until as u64, records)
    }
}

/// A small generator of numbers (SplitMix64), so that the bytes hang on nothing but the seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Ranks of the server.
pub const RANKS: u64 = 4;

/// First second of the log, UTC: 2026-05-20 08:30:00.
pub const BEGIN: u64 = 1_779_265_800;

struct Log {
    dice: Dice,
    requests: Requests,
    /// Milliseconds since the beginning.
    now: u64,
    stamp: String,
    stamped: u64,
    /// Requests in flight: id, session, when it came.
    open: Vec<(String, u64, f64)>,
    text: String,
    traces: u64,
    written: Written,
}

/// Writes at least `bytes` bytes of log.
pub fn write(out: &mut impl Write, bytes: u64, seed: u64, requests: Requests) -> io::Result<Written> {
    let mut log = Log {
        dice: Dice(seed),
        requests,
        now: 0,
        stamp: String::new(),
        stamped: u64::MAX,
        open: Vec::new(),
        text: String::new(),
        traces: 0,
        written: Written::default(),
    };
    // The rare id's three lines stand at 2, 5 and 9 tenths of the log.
    let planted = [bytes / 5, bytes / 2, bytes * 9 / 10];
    let mut plant = 0;
    while log.written.bytes < bytes {
        log.text.clear();
        log.now += log.dice.below(23);
        if plant < planted.len() && log.written.bytes >= planted[plant] {
            let rare = (RARE_RID.to_string(), 7, 1_779_265_829.786_1);
            match plant {
                0 => log.received(&rare),
                1 => log.aborted(RARE_RID),
                _ => log.finished(&rare),
            }
            log.written.with_rid += 1;
            plant += 1;
        } else {
            log.line();
        }
        let second = log.now as usize / 1000;
        let written = &mut log.written;
        if written.seconds.len() <= second {
            written.seconds.resize(second + 1, 0);
        }
        written.seconds[second] += 1;
        written.records += 1;
        written.bytes += log.text.len() as u64;
        written.lines += log.text.bytes().filter(|b| *b == b'\n').count() as u64;
        out.write_all(log.text.as_bytes())?;
    }
    Ok(log.written)
}

impl Log {
    fn line(&mut self) {
        match self.dice.below(1000) {
            0..270 => self.prefill(),
            270..560 => self.decode(),
            560..700 => {
                let mut id = String::new();
                self.hex(32, &mut id);
                let request = (id, self.dice.below(4096), BEGIN as f64 + self.now as f64 / 1000.0);
                self.received(&request);
                self.open.push(request);
            }
            700..840 => match self.open.len() {
                0 => self.decode(),
                n => {
                    let at = self.dice.below(n as u64) as usize;
                    let request = self.open.swap_remove(at);
                    self.finished(&request);
                }
            },
            840..985 => self.access(),
            985..998 => self.notice(),
            _ => self.traceback(),
        }
    }

    /// `[2026-05-20 08:30:00 TP1] `, or without a rank.
    fn head(&mut self, rank: Option<u64>) {
        let second = self.now / 1000;
        if self.stamped != second {
            self.stamped = second;
            let of_day = 8 * 3600 + 30 * 60 + second;
            let (day, rest) = (20 + of_day / 86_400, of_day % 86_400);
            self.stamp.clear();
            // No log of these sizes reaches the end of the month: 1 GB is about seven hours.
            let _ = write!(self.stamp, "[2026-05-{day:02} {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
        }
        self.text.push_str(&self.stamp);
        if let Some(rank) = rank {
            let _ = write!(self.text, " TP{rank}");
        }
        self.text.push_str("] ");
    }

    fn hex(&mut self, digits: usize, into: &mut String) {
        for _ in 0..digits / 16 {
            let _ = write!(into, "{:016x}", self.dice.next());
        }
    }

    fn prefill(&mut self) {
        let rank = self.dice.below(RANKS);
        self.head(Some(rank));
        let d = &mut self.dice;
        let _ = writeln!(
            self.text,
            "Prefill batch, #new-seq: {}, #new-token: {}, #cached-token: {}, token usage: 0.{:02}, #running-req: {}, #queue-req: {}, \
             #pending-token: {}, cuda graph: False, input throughput (token/s): {}.{:02}",
            1 + d.below(4),
            64 + d.below(8129),
            d.below(300) * 64,
            d.below(100),
            d.below(64),
            d.below(12),
            d.below(40_000),
            1000 + d.below(20_000),
            d.below(100)
        );
    }

    fn decode(&mut self) {
        let rank = self.dice.below(RANKS);
        self.written.decode[rank as usize] += 1;
        self.head(Some(rank));
        let d = &mut self.dice;
        let _ = writeln!(
            self.text,
            "Decode batch, #running-req: {}, #token: {}, token usage: 0.{:02}, cuda graph: True, gen throughput (token/s): {}.{:02}, \
             #queue-req: {}",
            1 + d.below(64),
            1000 + d.below(173_000),
            d.below(100),
            40 + d.below(1200),
            d.below(100),
            d.below(12)
        );
    }

    fn object(&mut self, (rid, session, at): &(String, u64, f64)) {
        if self.requests == Requests::Short {
            let _ = write!(self.text, "obj=GenerateReqInput(rid='{rid}', stream=True, priority=None, received_time={at:.4})");
            return;
        }
        let _ = write!(
            self.text,
            "obj=GenerateReqInput(rid='{rid}', http_worker_ipc=None, video_data=None, use_audio_in_video=False, return_logprob=False, \
             logprob_start_len=-1, top_logprobs_num=0, token_ids_logprob=None, return_text_in_logprobs=True, stream=True, log_metrics=True, \
             return_hidden_states=False, return_routed_experts=False, return_indexer_topk=False, routed_experts_start_len=0, modalities=[], \
             session_params=None, lora_id=None, custom_logit_processor=None, positional_embed_overrides=None, bootstrap_host=None, \
             bootstrap_port=None, bootstrap_room=None, bootstrap_pair_key=None, decode_tp_size=None, require_reasoning=False, \
             routed_dp_rank=None, disagg_prefill_dp_rank=None, data_parallel_rank=None, background=False, conversation_id=None, \
             priority=None, extra_key=None, routing_key='session-{session}', no_logs=False, custom_labels=None, return_bytes=False, \
             return_entropy=False, external_trace_header=None, received_time={at:.4}, need_wait_for_mm_inputs=False, \
             num_items_assigned=None, max_dynamic_patch=None, min_dynamic_patch=None, image_max_dynamic_patch=None, \
             video_max_dynamic_patch=None, multi_item_delimiter_indices=None), headers={{'x-smg-routing-key': 'session-{session}'}}"
        );
    }

    fn received(&mut self, request: &(String, u64, f64)) {
        self.head(None);
        self.text.push_str("Receive: ");
        self.object(request);
        self.text.push('\n');
    }

    fn finished(&mut self, request: &(String, u64, f64)) {
        self.head(None);
        self.text.push_str("Finish: ");
        self.object(request);
        let (rid, _, at) = request;
        let d = &mut self.dice;
        let prompt = 64 + d.below(16_000);
        let cached = prompt / 64 * d.below(2) * 64;
        let latency = (1 + d.below(90_000)) as f64 / 1000.0;
        let _ = writeln!(
            self.text,
            ", out={{'meta_info': {{'id': '{rid}', 'finish_reason': {{'type': 'stop', 'matched': 151645}}, 'prompt_tokens': {prompt}, \
             'weight_version': 'default', 'num_retractions': 0, 'completion_tokens': {}, 'cached_tokens': {cached}, \
             'cached_tokens_details': {{'device': {cached}, 'host': 0}}, 'dp_rank': None, 'e2e_latency': {latency:.4}, \
             'request_received_ts': {at:.4}, 'api_server_dispatch_finish_ts': {:.4}, 'response_sent_to_client_ts': {:.4}, \
             'request_finished_ts': {:.4}, 'decode_throughput': {}.{}, 'forward_entry_time': {:.4}, 'prefill_finished_time': {:.4}, \
             'queue_time': 0.{:04}}}}}",
            1 + d.below(900),
            at + 0.0072,
            at + latency * 0.7,
            at + latency,
            20 + d.below(90),
            d.below(10),
            at + latency * 0.1,
            at + latency * 0.3,
            d.below(10_000)
        );
    }

    fn access(&mut self) {
        self.head(None);
        let d = &mut self.dice;
        let (client, port) = (2 + d.below(40), 30_000 + d.below(30_000));
        let request = match d.below(10) {
            0 => "GET /metrics",
            1 => "GET /health",
            2..5 => "POST /generate",
            _ => "POST /v1/chat/completions",
        };
        let status = match d.below(200) {
            0 => "503 Service Unavailable",
            1 => "400 Bad Request",
            _ => "200 OK",
        };
        let _ = writeln!(self.text, "INFO:     10.42.0.{client}:{port} - \"{request} HTTP/1.1\" {status}");
    }

    fn aborted(&mut self, rid: &str) {
        let rank = self.dice.below(RANKS);
        self.head(Some(rank));
        let _ = writeln!(self.text, "Abort queued request. rid={rid}");
    }

    fn notice(&mut self) {
        let rank = self.dice.below(RANKS);
        let which = self.dice.below(13);
        let mut id = String::new();
        self.hex(32, &mut id);
        self.head(Some(rank));
        self.written.with_medium += u64::from(which < 5);
        let d = &mut self.dice;
        let _ = match which {
            0..5 => writeln!(
                self.text,
                "KV cache pool is full. Retract requests. #retracted_reqs: {}, #new_tokens_gained: {}, #new_token_ratio: 0.{:04} -> 0.{:04}",
                1 + d.below(8),
                d.below(32_768),
                d.below(10_000),
                d.below(10_000)
            ),
            5..8 => writeln!(
                self.text,
                "HiCache prefetch success req={id} completed={} matched={} loaded={} occupied={}",
                d.below(200) * 64,
                d.below(20) * 64,
                d.below(200) * 64,
                d.below(100_000)
            ),
            8 => {
                let mut page = String::new();
                self.hex(64, &mut page);
                writeln!(self.text, "Prefetch operation {id} failed to retrieve page {page}.")
            }
            9 => writeln!(self.text, "Cache flushed successfully!"),
            10 => {
                writeln!(self.text, "Request {id} exceeds the maximum length of {} tokens ({}); it is cut", 40_960, 40_961 + d.below(9000))
            }
            11 => writeln!(
                self.text,
                "Health check failed. Server couldn't get a response from detokenizer for last {} seconds.",
                20 + d.below(9)
            ),
            _ => writeln!(self.text, "Abort queued request. rid={id}"),
        };
    }

    fn traceback(&mut self) {
        let rank = self.dice.below(RANKS);
        self.head(Some(rank));
        self.text.push_str("Scheduler hit an exception: Traceback (most recent call last):\n");
        let place = self.dice.below(5);
        let _ = write!(
            self.text,
            "  File \"/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py\", line {}, in run_scheduler_process\n    \
             scheduler.event_loop_overlap()\n  \
             File \"/usr/local/lib/python3.12/dist-packages/torch/utils/_contextlib.py\", line 120, in decorate_context\n    \
             return func(*args, **kwargs)\n",
            3100 + place
        );
        let (file, function, code) = [
            ("managers/scheduler.py", "event_loop_overlap", "batch_result = self.run_batch(batch)"),
            ("managers/tp_worker.py", "forward_batch_generation", "logits_output, can_run_cuda_graph = self.model_runner.forward("),
            ("model_executor/model_runner.py", "_forward_raw", "ret = self.forward_extend("),
            ("layers/attention/flashinfer_backend.py", "init_forward_metadata", "self.indices_updater_prefill.update("),
            ("mem_cache/hiradix_cache.py", "check_prefetch_progress", "self.cache_controller.terminate_prefetch(operation)"),
        ][place as usize];
        let line = 100 + self.dice.below(2400);
        let _ = write!(self.text, "  File \"/sgl-workspace/sglang/python/sglang/srt/{file}\", line {line}, in {function}\n    {code}\n");
        self.traces += 1;
        if self.traces.is_multiple_of(100) {
            self.written.with_rare += 1;
            let _ = writeln!(
                self.text,
                "torch.{RARE_WORD}: CUDA out of memory. Tried to allocate {}.00 MiB. GPU {rank} has a total capacity of 79.11 GiB",
                self.dice.below(2000)
            );
        } else {
            let error = self.dice.one_of(&[
                "RuntimeError: CUDA error: an illegal memory access was encountered",
                "AssertionError: req_pool_idx is None",
                "ValueError: The input length is longer than the model's context length",
                "TimeoutError: nixl transfer did not finish",
                "KeyError: 'bootstrap_room'",
            ]);
            self.text.push_str(error);
            self.text.push('\n');
        }
    }
}
