//! The loop that runs the jobs of a schedule. Only it records, one append at a time, while the jobs
//! under way go on.

use std::{collections::VecDeque, panic::resume_unwind, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{Job, JobEnd, JobResult, Schedule, ToolCall, Work, end};
use crate::{
    floor::{
        Floor,
        convene::{Above, SubRun},
        gate::Draining,
        group::{calls::Calls, waiting::Listener},
        halt::{Halt, Why},
    },
    model::{
        command::Command,
        event::{Event, Noted, SubConcluded, ToolError, ToolPlaced, ToolUsed, WindUp},
        id::Step,
        spec::{Limits, Spec},
    },
    record::Entry,
    seams::{StoreError, ToolUse},
};

/// Takes the place of the job's name in the step of the loop itself.
const ALL: &str = "*";

/// A job that is given all the time of the run ends about when the run does.
const JUST_OVER_MS: u64 = 20;

/// The code of a tool that a fork would have to use again.
const NOT_AGAIN: &str = "TOOL_NOT_RERUN";

/// A message from a job under way.
enum News {
    /// A discussion ended; `None` if it is suspended.
    Discussion(Result<Option<JobResult>, StoreError>),
    /// A tool ended.
    Tool { outcome: Result<serde_json::Value, ToolError>, took_ms: u64 },
    /// The wait before another attempt is over.
    Waited,
}

enum Happened {
    Command,
    Arrival(usize, News),
    Deadline,
}

pub(super) struct Running<'f, 's> {
    floor: &'f mut Floor,
    schedule: &'s mut dyn Schedule,
    most: usize,
    key: Step,
    waiting: VecDeque<Job>,
    begun: Vec<Job>,
    under_way: usize,
    calls: Calls<News>,
    draining: Option<Draining>,
    /// Whether a job waits for people.
    suspended: bool,
}

impl<'f, 's> Running<'f, 's> {
    pub(super) fn of(floor: &'f mut Floor, most: usize, schedule: &'s mut dyn Schedule) -> Self {
        Running {
            floor,
            schedule,
            most,
            key: Step::job(ALL),
            waiting: VecDeque::new(),
            begun: Vec::new(),
            under_way: 0,
            calls: Calls::default(),
            draining: None,
            suspended: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<(), Halt> {
        if self.floor.record.has_mark(&self.key.purpose("wound-up")) {
            self.replay().await?;
            return Err(Halt::wind_up());
        }
        let mut listener = Listener::of(self.floor);
        self.advance().await?;
        while !self.calls.is_empty() {
            match self.wait(&mut listener).await? {
                Happened::Command => self.take_commands().await?,
                Happened::Arrival(index, news) => self.take_in(index, news).await?,
                Happened::Deadline => {
                    self.draining.get_or_insert(Draining::WindUp(WindUp::Deadline));
                }
            }
            self.advance().await?;
        }
        self.leave().await
    }

    /// Takes in the recorded ends, and the notes that follow from them.
    async fn replay(&mut self) -> Result<(), Halt> {
        loop {
            let ready = self.schedule.ready();
            // Notes come after `ready()`, which also finds the jobs that are over by now.
            self.note();
            if ready.is_empty() {
                return Ok(());
            }
            for job in ready {
                match self.floor.job_end(&Step::job(&job.name)).await? {
                    Some(end) => self.schedule.ended(&job.name, end),
                    None => self.waiting.push_back(job),
                }
            }
        }
    }

    /// Begins what may begin.
    async fn advance(&mut self) -> Result<(), Halt> {
        loop {
            self.replay().await?;
            let mut facts = Vec::new();
            let mut fresh = Vec::new();
            let mut reused = false;
            while self.under_way + fresh.len() < self.most && !self.waiting.is_empty() {
                if !self.may_begin().await? {
                    break;
                }
                let Some(job) = self.waiting.pop_front() else { break };
                let step = Step::job(&job.name);
                match self.floor.reused_job(&job.name, &step, &job.work) {
                    Some(taken_over) => {
                        facts.extend(taken_over);
                        self.waiting.push_front(job);
                        reused = true;
                        break;
                    }
                    None => {
                        facts.extend(self.first_facts(&job, &step));
                        fresh.push(job);
                    }
                }
            }
            self.append(facts).await?;
            let began = !fresh.is_empty();
            for job in fresh {
                self.begin(job);
            }
            if reused {
                self.deliver_reused().await?;
            } else if !began {
                return Ok(());
            }
        }
    }

    /// Takes in the end of the first job that waits, which was just taken over from the original.
    async fn deliver_reused(&mut self) -> Result<(), Halt> {
        let Some(job) = self.waiting.pop_front() else { return Ok(()) };
        if let Some(end) = self.floor.job_end(&Step::job(&job.name)).await? {
            self.schedule.ended(&job.name, end);
        }
        Ok(())
    }

    /// Whether anything new may begin; if not, what is under way is waited for.
    async fn may_begin(&mut self) -> Result<bool, Halt> {
        self.take_commands().await?;
        if self.draining.is_none() && self.floor.deadline() <= Instant::now() {
            self.draining = Some(Draining::WindUp(WindUp::Deadline));
        }
        Ok(self.draining.is_none())
    }

    async fn take_commands(&mut self) -> Result<(), Halt> {
        match self.floor.take_commands().await {
            Ok(new) => {
                if self.draining.is_none() {
                    self.draining = new;
                }
                Ok(())
            }
            Err(Halt(Why::Aborted)) => {
                self.draining = Some(Draining::Leave);
                self.take_in_arrived().await?;
                Err(Halt::aborted())
            }
            Err(halt) => Err(halt),
        }
    }

    /// Records everything that has arrived. A panic of one job is resumed only after the others
    /// were recorded.
    async fn take_in_arrived(&mut self) -> Result<(), Halt> {
        let mut fault = None;
        while let Some((index, news)) = self.calls.arrived() {
            match news {
                Ok(news) => self.take_in(index, news).await?,
                Err(panic) => fault = fault.or(Some(panic)),
            }
        }
        fault.map_or(Ok(()), |panic| resume_unwind(panic))
    }

    /// The facts that come before a job begins, unless it was begun before.
    fn first_facts(&self, job: &Job, step: &Step) -> Option<Entry> {
        let state = &self.floor.record.state;
        let event = match &job.work {
            Work::Discussion(_) if state.subs.contains_key(step) => return None,
            Work::Discussion(spec) => {
                let child = state.id.derived(step.as_str());
                Event::ChildConvened(end::convened(&job.name, spec, Some(child)))
            }
            Work::Tool(_) if state.tools.contains_key(step) => return None,
            Work::Tool(call) => Event::ToolPlaced(placed(job, call, 1)),
        };
        Some((Some(step.clone()), event))
    }

    fn begin(&mut self, job: Job) {
        let index = self.begun.len();
        self.under_way += 1;
        let (step, work, deadline_ms) = (Step::job(&job.name), job.work.clone(), job.deadline_ms);
        self.begun.push(job);
        match work {
            Work::Discussion(spec) => {
                let held = self.run_discussion(&step, *spec, deadline_ms);
                self.calls.push(index, held);
            }
            Work::Tool(call) => self.begin_tool(index, &step, &call),
        }
    }

    fn run_discussion(&self, step: &Step, spec: Spec, deadline_ms: Option<u64>) -> BoxFuture<'static, News> {
        let floor = &*self.floor;
        let run = &floor.record.state;
        let id = run.id.derived(step.as_str());
        // It belongs to the owner of the run, whoever wrote the plan.
        let (tenant, account) = (run.spec.tenant.clone(), run.spec.account.clone());
        let spec = Spec { tenant, account, ..spec };
        let below = SubRun {
            services: floor.services.clone(),
            claim: floor.record.claim().clone(),
            feed: floor.record.feed().clone(),
            control: floor.control.clone(),
            above: Above { ledger: floor.ledger.clone(), purse: floor.purse.clone() },
            id,
            lineage: floor.lineage_of_job(&spec, deadline_ms),
            spec,
        };
        let name = step.job_name().unwrap_or_default().to_owned();
        let (services, run_sub) = (floor.services.clone(), floor.run_sub);
        Box::pin(async move {
            let Some(end) = run_sub(below).await else { return News::Discussion(Ok(None)) };
            let end = SubConcluded { participant: name, child: Some(id), ..end };
            News::Discussion(end::discussion_end(&services, end).await.map(Some))
        })
    }

    /// Uses a tool, or goes on with it after a restart. One that was under way when the process
    /// ended may have had its effect.
    fn begin_tool(&mut self, index: usize, step: &Step, call: &ToolCall) {
        let state = &self.floor.record.state;
        let Some(run) = state.tools.get(step) else { return };
        let is_ours = run.from_seq > self.floor.record.loaded();
        let refused = if !run.is_under_way() {
            let wait = run.used.as_ref().and_then(|it| it.retry_in_ms).unwrap_or_default();
            self.calls.push(index, sleep(Duration::from_millis(wait)).map(|()| News::Waited));
            return;
        } else if state.fork.is_some() && !call.again_in_forks && self.floor.source.has_tool(step) {
            let tool = &call.tool;
            let message =
                format!("{tool} was used with other arguments before, and a fork uses no tool again");
            ToolError::new(NOT_AGAIN, message)
        } else if is_ours || call.repeatable {
            self.use_tool(index, step, call);
            return;
        } else {
            let message = format!(
                "{} was under way when the process ended: it may have had its effect, so it is not repeated",
                call.tool
            );
            ToolError::new(ToolError::INTERRUPTED, message)
        };
        let news = News::Tool { outcome: Err(refused), took_ms: 0 };
        self.calls.push(index, std::future::ready(news));
    }

    fn use_tool(&mut self, index: usize, step: &Step, call: &ToolCall) {
        let floor = &*self.floor;
        let left_ms = floor.left_until(self.begun[index].deadline_ms);
        let timeout_ms = call.timeout_ms.min(left_ms);
        let used = ToolUse {
            discussion: floor.record.state.id,
            tenant: floor.record.state.spec.tenant.clone(),
            step: step.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            timeout_ms,
        };
        let tool = call.tool.clone();
        let running = floor.services.tools.use_tool(used);
        self.calls.push(index, async move {
            let began = Instant::now();
            let outcome = timeout(Duration::from_millis(timeout_ms), running).await.unwrap_or_else(|_| {
                let message = format!("{tool} took longer than {timeout_ms} ms");
                Err(ToolError::new(ToolError::TIMEOUT, message).transient())
            });
            News::Tool { outcome, took_ms: began.elapsed().as_millis() as u64 }
        });
    }

    async fn wait(&mut self, listener: &mut Listener) -> Result<Happened, Halt> {
        let deadline = self.floor.deadline();
        let is_open = self.draining.is_none();
        let paid = self.floor.record.pay_up().await?;
        tokio::select! {
            biased;
            () = listener.spoken_to() => Ok(Happened::Command),
            Some((index, news)) = self.calls.next(&paid) => match news {
                Ok(news) => Ok(Happened::Arrival(index, news)),
                Err(panic) => {
                    self.take_in_arrived().await?;
                    resume_unwind(panic)
                }
            },
            () = sleep_until(deadline), if is_open => Ok(Happened::Deadline),
        }
    }

    async fn take_in(&mut self, index: usize, news: News) -> Result<(), Halt> {
        let name = self.begun[index].name.clone();
        let step = Step::job(&name);
        match news {
            News::Discussion(Err(error)) => return Err(error.into()),
            News::Discussion(Ok(None)) => {
                self.suspended = true;
                self.under_way -= 1;
            }
            News::Discussion(Ok(Some(result))) => {
                if let JobResult::Discussion { end, state } = &result {
                    let short = state.as_ref().and_then(|it| used_up(it));
                    let late = state.as_ref().is_some_and(|it| it.wound_up == Some(WindUp::Deadline));
                    let is_over = self.floor.remaining_ms() <= JUST_OVER_MS;
                    let short = short.or_else(|| (late && is_over).then_some(WindUp::Deadline));
                    if self.draining.is_none() {
                        self.draining = short.map(Draining::WindUp);
                    }
                    let ended = Event::SubConcluded((**end).clone());
                    self.append(vec![(Some(step.clone()), ended)]).await?;
                }
                let from_ms = self.floor.record.state.subs.get(&step).map_or(0, |it| it.from_ms);
                self.under_way -= 1;
                self.schedule.ended(&name, JobEnd { from_ms, result });
            }
            News::Tool { outcome, took_ms } => self.take_tool(index, outcome, took_ms).await?,
            // Nothing new begins any more. After a resume, the wait begins again.
            News::Waited if self.draining.is_some() => self.under_way -= 1,
            News::Waited => {
                let Work::Tool(call) = self.begun[index].work.clone() else { return Ok(()) };
                let attempt = self.floor.record.state.tools.get(&step).map_or(1, |it| it.attempt + 1);
                let event = Event::ToolPlaced(placed(&self.begun[index], &call, attempt));
                self.append(vec![(Some(step.clone()), event)]).await?;
                self.use_tool(index, &step, &call);
            }
        }
        Ok(())
    }

    async fn take_tool(
        &mut self,
        index: usize,
        outcome: Result<serde_json::Value, ToolError>,
        took_ms: u64,
    ) -> Result<(), Halt> {
        let job = self.begun[index].clone();
        let (step, Work::Tool(call)) = (Step::job(&job.name), &job.work) else { return Ok(()) };
        let run = self.floor.record.state.tools.get(&step);
        let (attempt, from_ms) = run.map_or((1, 0), |it| (it.attempt, it.from_ms));
        let (output, error) = match outcome {
            Ok(output) => (output, None),
            Err(error) => (serde_json::Value::Null, Some(error)),
        };
        let retry = call.retry.as_ref().filter(|_| error.as_ref().is_some_and(|it| it.transient));
        let retry_in_ms = retry.and_then(|it| it.wait_ms(attempt)).filter(|_| self.draining.is_none());
        let name = job.name.clone();
        let used = ToolUsed { name, attempt, output, error, retry_in_ms, took_ms, reused: false };
        self.append(vec![(Some(step), Event::ToolUsed(used.clone()))]).await?;
        match retry_in_ms {
            Some(ms) => self.calls.push(index, sleep(Duration::from_millis(ms)).map(|()| News::Waited)),
            None => {
                self.under_way -= 1;
                self.schedule.ended(&job.name, JobEnd { from_ms, result: JobResult::Tool(Box::new(used)) });
            }
        }
        Ok(())
    }

    async fn append(&mut self, facts: Vec<Entry>) -> Result<(), Halt> {
        Ok(self.calls.go_on_during(self.floor.record.append(facts)).await?)
    }

    fn note(&mut self) {
        for note in self.schedule.notes() {
            let noted = Noted { kind: note.kind.to_owned(), round: 0, value: note.value, told: note.told };
            let step = Step::job(&note.key).purpose(note.kind);
            self.floor.record.once(step, Event::Noted(noted));
        }
    }

    /// Leaves when nothing is under way; the error is why before the schedule's end.
    async fn leave(mut self) -> Result<(), Halt> {
        if self.suspended && self.draining.is_none() {
            self.take_commands().await?;
        }
        match self.draining.take() {
            Some(Draining::WindUp(reason)) => {
                let key = self.key.clone();
                Err(self.floor.wind_up(&key, reason).await?)
            }
            Some(Draining::Leave) => Err(Halt::left()),
            Some(Draining::Suspend) if self.floor.control.pending() != Some(Command::Pause) => {
                Err(Halt::pause_cancelled())
            }
            Some(Draining::Suspend) => Err(Halt::suspended()),
            None if self.suspended => Err(Halt::awaiting()),
            None => Ok(()),
        }
    }
}

fn placed(job: &Job, call: &ToolCall, attempt: u32) -> ToolPlaced {
    ToolPlaced { name: job.name.clone(), tool: call.tool.clone(), attempt, arguments: call.arguments.clone() }
}

/// The budget of the run that a job's discussion found used up. One with limits of its own may have
/// used up those.
fn used_up(state: &crate::model::state::State) -> Option<WindUp> {
    if state.spec.limits != Limits::default() {
        return None;
    }
    match &state.wound_up {
        Some(
            reason @ (WindUp::CallBudget { .. }
            | WindUp::TokenBudget { .. }
            | WindUp::CostBudget { .. }
            | WindUp::SpendingCap { .. }),
        ) => Some(reason.clone()),
        Some(
            WindUp::Stopped
            | WindUp::Deadline
            | WindUp::TooFew { .. }
            | WindUp::ProviderFailed { .. }
            | WindUp::WindowFull { .. },
        )
        | None => None,
    }
}
