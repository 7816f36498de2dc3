//! The page in a real browser: Debian's Chromium, driven by playwright-core, with the real `ax
//! serve` and simulated voices. `cargo xtask setup` installs both. Each scenario is a script beside
//! this file; screenshots go to `target/screenshots`.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The folder of cargo's build output and of what the setup installs.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

#[track_caller]
fn play(scenario: &str) {
    let driver = target().join("browser/node_modules/playwright-core/index.mjs");
    assert!(driver.is_file(), "the browser's driver is missing; `cargo xtask setup` installs it");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser").join(scenario);
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("node")
        .arg(script)
        .env("QUORUM_AX", env!("CARGO_BIN_EXE_ax"))
        .env("QUORUM_DRIVER", driver)
        .env("QUORUM_AXE", target().join("browser/node_modules/axe-core/axe.min.js"))
        .env("QUORUM_FOLDER", folder.path())
        .env("QUORUM_SCREENSHOTS", target().join("screenshots"))
        .output()
        .unwrap_or_else(|error| panic!("node can't be run ({error}); `cargo xtask setup` installs it"));
    let told = String::from_utf8_lossy(&output.stdout);
    println!("{told}");
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn c07_a_discussion_is_started_watched_steered_spoken_in_exported_and_replayed() {
    play("watched.mjs");
}

#[test]
fn f11_the_page_goes_on_without_a_gap_when_the_server_is_killed_and_started_again() {
    play("restarted.mjs");
}

#[test]
fn s6_200_payloads_make_no_dialog_no_request_and_no_report() {
    play("payloads.mjs");
}

#[test]
fn s6_200_payloads_in_exported_pages_make_no_dialog_and_no_request() {
    play("exported.mjs");
}

#[test]
fn s2_the_page_asks_for_a_token_once_and_keeps_it_out_of_addresses() {
    play("token.mjs");
}

#[test]
fn the_page_shows_the_first_vote_beside_the_last() {
    play("voted.mjs");
}

#[test]
fn d15_the_page_folds_the_record_as_the_server_does() {
    play("folded.mjs");
}

#[test]
fn the_page_looks_as_it_should_in_light_and_dark_wide_and_narrow() {
    play("pictures.mjs");
}

#[test]
fn every_view_is_accessible_in_light_and_dark_wide_and_narrow() {
    play("accessible.mjs");
}

#[test]
fn discussions_are_copied_asked_again_forked_renamed_deleted_and_sorted_on_the_page() {
    play("managed.mjs");
}

#[test]
fn a12_an_order_is_planned_from_a_preset_in_a_session_and_its_judge_replaced() {
    play("ordered.mjs");
}

#[test]
fn a_server_without_models_offers_simulated_voices_and_a_panel_of_one_vendor_says_so() {
    play("unasked.mjs");
}

#[test]
fn s6_a_server_that_lies_in_every_text_makes_nothing_run() {
    play("hostile.mjs");
}

#[test]
fn d15_ten_thousand_events_are_shown_dragged_through_and_scrolled() {
    play("long.mjs");
}

#[test]
fn the_page_copes_with_wrong_clocks_two_tabs_no_mouse_and_awkward_texts() {
    play("edges.mjs");
}

#[test]
fn the_page_shows_who_said_what_a_sentence_rests_on() {
    play("sourced.mjs");
}

#[test]
fn b11_a_run_is_watched_as_a_picture_of_its_steps() {
    play("runs.mjs");
}

#[test]
fn b08_agents_are_picked_on_the_page_and_the_next_question_goes_to_the_same_panel() {
    play("picked.mjs");
}
