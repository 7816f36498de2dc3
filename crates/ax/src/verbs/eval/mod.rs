//! `ax eval`: puts questions with known answers to several protocols, and reports which were right.

mod folder;
mod plan_text;
mod progress;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use quorum::{
    Quorum, Request, Scope,
    eval::{
        Evaluation, Lots, Posed, Question, Report,
        formats::{BadRecords, Questions, read},
        grade::Key,
        protocols,
        report::About,
        run::Answers,
    },
    request::{Simulate, flags::list},
    voices::{WorldVoices, world},
};

use self::{
    folder::{Folder, Settings},
    progress::Bar,
};
use crate::{
    app::{App, WithoutProviders},
    args::Eval,
    exit::{Exit, Usage},
    local,
    render::{note, note_always, print, print_json},
    verbs::{restore::expire_old, signals::CloseSignals, telemetry},
};

/// Runs an evaluation, or continues one.
pub(crate) fn eval(app: &App, args: &Eval) -> anyhow::Result<Exit> {
    let folder = Folder::of(args);
    let bytes = folder::read_file(&args.file)?;
    let settings = folder.settings(args, &bytes)?;
    let questions = match questions(args, &settings, &bytes)? {
        Ok(questions) => questions,
        Err(exit) => return Ok(exit),
    };
    let world = world_of(&settings, &questions.questions)?;
    let quorum = app.open_in_world(app.config()?, WithoutProviders::Refuse, world)?;
    telemetry::announce(&quorum);
    // Discussions run side by side, so that every core is used.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(held(&quorum, args, (&folder, &settings), questions));
    runtime.block_on(telemetry::flush(&quorum));
    runtime.shutdown_background();
    exit
}

/// The questions of the file; its mistakes are printed.
fn questions(args: &Eval, settings: &Settings, bytes: &[u8]) -> anyhow::Result<Result<Questions, Exit>> {
    let name = args.file.to_string_lossy();
    let bad = if settings.skip_bad { BadRecords::Skip } else { BadRecords::Refuse };
    let mut found = match read(&name, bytes, bad) {
        Ok(found) => found,
        Err(mistakes) => {
            mistakes.iter().for_each(|it| note_always(&format!("error: {name}: {it}")));
            note("Nothing was asked and nothing was spent. --skip-bad leaves out what can't be read.");
            return Ok(Err(Exit::BadInput));
        }
    };
    for skipped in &found.skipped {
        note(&format!("Left out: {name}: {skipped}"));
    }
    if let Some(limit) = settings.limit.filter(|it| *it < found.questions.len()) {
        let mut drawn = Lots::of(settings.seed, &["sample"]).order(found.questions.len());
        drawn.truncate(limit);
        drawn.sort_unstable();
        found.questions = drawn.into_iter().map(|it| found.questions[it].clone()).collect();
    }
    if settings.judge.is_none() && found.questions.iter().any(Question::needs_model) {
        let message = "some questions need a model that grades their answers; name one with --judge";
        return Err(Usage(message.to_owned()).into());
    }
    Ok(Ok(found))
}

/// The voices of a reference world, which alone know what is right.
fn world_of(settings: &Settings, questions: &[Question]) -> anyhow::Result<Option<Arc<WorldVoices>>> {
    let Some(written) = &settings.world else { return Ok(None) };
    let world: world::World = written.parse().map_err(|it| Usage(format!("--world: {it}")))?;
    let voices = WorldVoices::new(world);
    for question in questions {
        let Posed { topic, key, .. } = question.posed(settings.seed);
        let Key::Choice(right) = key else {
            let message = format!(
                "--world: question {} has no options, and a world answers only questions with options",
                question.id
            );
            return Err(Usage(message).into());
        };
        voices.know(&topic, right);
    }
    Ok(Some(Arc::new(voices)))
}

async fn held(
    quorum: &Quorum,
    args: &Eval,
    (folder, settings): (&Folder, &Settings),
    questions: Questions,
) -> anyhow::Result<Exit> {
    let scope = local::scope(quorum);
    let evaluation = evaluation(&scope, settings, questions.questions.clone())?;
    let plan = evaluation.plan(&scope).await?;
    if let Some(judge) = plan.grader.as_ref().filter(|it| it.sits_on_panel && !settings.judge_on_panel) {
        let message = format!(
            "--judge: {} is on the panel and would grade its own answers; name another model, or say --judge-on-panel",
            judge.name
        );
        return Err(Usage(message).into());
    }
    // A run that is continued uses what was known when it was started.
    let known_best = match args.resume {
        true => settings.known_best.clone(),
        false => best_known(&scope, &plan.panel, plan.simulated).await?,
    };
    let settings = &Settings { known_best: known_best.clone(), ..settings.clone() };
    let evaluation = Evaluation { known_best, ..evaluation };
    if args.dry_run {
        if args.json {
            print_json(&plan)?;
        } else {
            print(&plan_text::plan(&plan, &questions))?;
        }
        note("No model was asked, and nothing was recorded.");
        return Ok(Exit::Done);
    }
    expire_old(quorum).await;
    folder.begin(settings)?;
    let session = scope.session_named(&settings.session_name()).await?;
    let evaluation = Evaluation { session: Some(session.to_string()), ..evaluation };
    note(&plan_text::plan_line(&plan));
    let bar = Bar::new(stop_on_signal()?);
    let answers = evaluation.run(&scope, &bar).await?;
    bar.done();
    // What is true in a world says nothing about other simulated voices of the same names.
    if answers.stopped.is_none() && !plan.simulated {
        let recorded = evaluation.record_outcomes(&scope, &answers).await?;
        if recorded > 0 {
            note(&plan_text::recorded(recorded));
        }
    }
    let about = About {
        file: file_name(args),
        format: questions.format.to_owned(),
        skipped: questions.skipped.len(),
        panel: plan.panel,
        simulated: plan.simulated,
        world: settings.world.clone(),
    };
    let report = Report::of(&evaluation, &answers, &about);
    folder.write(&scope, &report).await?;
    match args.json {
        true => print_json(&report)?,
        false => print(&quorum::eval::report::text(&report))?,
    }
    note(&format!("The report is in {}; report.html is a page to read and share.", folder.path.display()));
    Ok(exit(&answers, folder))
}

fn file_name(args: &Eval) -> String {
    args.file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

fn exit(answers: &Answers, folder: &Folder) -> Exit {
    use quorum::eval::run::Stopped;
    let goes_on = format!("--resume --out {} continues it.", folder.path.display());
    match answers.stopped {
        Some(Stopped::Budget) => {
            note_always(&format!("The budget was used up; with a larger --max-cost, {goes_on}"));
            Exit::SpentUp
        }
        Some(Stopped::User) => {
            note_always(&format!("Stopped; {goes_on}"));
            Exit::Interrupted
        }
        None => Exit::Done,
    }
}

/// The evaluation that these settings describe.
fn evaluation(scope: &Scope, settings: &Settings, questions: Vec<Question>) -> anyhow::Result<Evaluation> {
    let config = scope.quorum().config();
    let is_preset = |name: &str| config.presets().any(|it| it == name);
    let protocols = protocols(settings.protocols.as_deref(), scope.quorum().registry(), is_preset)
        .map_err(|it| Usage(format!("--protocols: {it}")))?;
    Ok(Evaluation {
        questions,
        protocols,
        request: request(settings),
        seed: settings.seed,
        repeat: settings.repeat,
        independent: settings.independent,
        max_cost: settings.max_cost,
        grader: settings.judge.clone(),
        known_best: None,
        run: settings.run.clone(),
        session: None,
    })
}

/// The voice that did best in earlier outcomes, if there are enough of them.
async fn best_known(scope: &Scope, panel: &[String], simulated: bool) -> anyhow::Result<Option<String>> {
    let known = scope.calibration(simulated).await?;
    let of_seat = |name: &&String| {
        let is_seat = |voice: &str| voice == *name || voice.split('/').next() == Some(name.as_str());
        known.voices.iter().find(|it| is_seat(&it.voice) && it.outcomes >= known.needed).map(|it| it.accuracy)
    };
    let all: Option<Vec<f64>> = panel.iter().map(|it| of_seat(&it)).collect();
    // A voice without outcomes may be better than all others.
    let Some(all) = all else { return Ok(None) };
    let best = panel.iter().zip(all).rev().max_by(|one, other| one.1.total_cmp(&other.1));
    Ok(best.map(|it| it.0.clone()))
}

/// The panel and its voices.
fn request(settings: &Settings) -> Request {
    let world = settings.world.clone();
    let of_world = world.as_ref().map(|_| world::NAMES.map(str::to_owned).to_vec());
    let is_simulated = settings.offline || world.is_some();
    let given = settings.simulate.clone().unwrap_or_default();
    // Nobody watches a simulated voice type hundreds of answers.
    let simulate = Simulate { latency_ms: given.latency_ms.or(Some(0)), ..given };
    Request {
        providers: settings.providers.as_deref().map(list).or(of_world),
        allow_unpriced: settings.allow_unpriced.then_some(true),
        offline: is_simulated.then_some(true),
        simulate: is_simulated.then_some(simulate),
        world,
        ..Request::default()
    }
}

/// Becomes true at the first signal; the second one ends the process at once.
fn stop_on_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let (stopped, told) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let mut signals = CloseSignals::new()?;
    let stop = stopped.clone();
    tokio::spawn(async move {
        loop {
            signals.received().await;
            if told.swap(true, Ordering::Relaxed) {
                // Anything that isn't recorded didn't happen, so nothing has to be tidied up.
                std::process::exit(Exit::Interrupted as i32);
            }
            stop.store(true, Ordering::Relaxed);
            note("Nothing more is started; discussions under way are finished. Ctrl-C again ends at once.");
        }
    });
    Ok(stopped)
}
