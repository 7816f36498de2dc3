//! The conformance suite of stores, independent of their backend. `store_conformance!` makes one
//! test of each case.

pub mod archive;
pub mod claims;
pub mod fixture;
pub mod inbox;
pub mod lanes;
pub mod nodes;
pub mod outcomes;
pub mod queue;
pub mod record;
pub mod retention;
pub mod spending;

use std::{any::Any, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use quorum_core::seams::{Archive, Store};

/// A store with all traits the suite needs.
pub trait Whole: Store + Archive + 'static {}

impl<S: Store + Archive + 'static> Whole for S {}

/// A store under test: new, empty, and not shared.
pub struct Subject<S> {
    /// The store.
    pub store: Arc<S>,
    /// How a test advances its time.
    pub time: Time,
    /// Kept alive as long as the store, such as its folder.
    pub keep: Box<dyn Any + Send>,
}

/// How a test advances a store's time without waiting.
pub enum Time {
    /// Advances the time.
    Passes(Box<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>),
    /// Not possible, for this reason; cases that need it are skipped with a message.
    Stands(&'static str),
}

impl Time {
    /// Advances the time; returns `false` and prints the reason if it can't.
    pub async fn pass(&self, time: Duration) -> bool {
        match self {
            Time::Passes(pass) => {
                pass(time).await;
                true
            }
            Time::Stands(reason) => {
                eprintln!("left out: {reason}");
                false
            }
        }
    }
}

/// One test for each case of the suite; `make` is an async function that returns a [`Subject`].
#[macro_export]
macro_rules! store_conformance {
    ($make:path) => {
        $crate::store_conformance! { @each $make:
            record {
                create_is_idempotent
                facts_come_back_as_they_were
                facts_are_read_in_pages
                an_unknown_discussion_is_unknown
                a_wrong_expected_number_is_fenced
                facts_out_of_order_are_refused
                what_is_no_beginning_is_refused
                children_are_written_under_the_roots_claim
                a_finished_record_never_changes
                a_finished_child_never_changes
                concurrent_appends_are_all_stored
            }
            claims {
                an_older_claim_is_fenced
                what_is_begun_is_claimed_from_the_start
                a_held_discussion_names_its_holder
                the_same_node_may_claim_again
                a_released_claim_is_gone
                a_node_learns_what_it_holds
                claim_any_takes_the_oldest_that_could_go_on
                a_child_is_never_claimed
                of_many_claimants_one_wins
            }
            nodes {
                beats_are_counted_and_seen_by_all
                a_node_is_reaped_with_the_beat_that_was_seen
                the_claims_of_a_dead_node_end
                a_node_without_a_row_claims_nothing
                no_claim_survives_a_race_with_the_reaper
                a_node_that_parts_holds_nothing
                the_last_client_to_leave_is_told_so
            }
            queue {
                tenants_take_turns
                a_full_queue_refuses_its_tenant_only
                enqueuing_is_idempotent
                what_is_kept_for_a_process_waits_for_it
                what_makes_no_progress_is_put_aside
                progress_is_never_put_aside
                what_kills_its_nodes_is_put_aside
                a_takeover_is_told_apart
                a_node_takes_what_it_is_able_to_run
                a_tenant_runs_no_more_than_its_share
                a_tenant_begins_no_more_than_its_share
                the_list_says_what_is_run
                watchers_hear_of_work_and_facts
            }
            lanes {
                the_time_of_a_provider_is_granted_once
                a_closed_lane_is_granted_later
            }
            inbox {
                commands_keep_their_order
                commands_need_somebody_to_take_them
                a_parked_discussion_waits_for_a_command
                parking_with_a_newer_command_does_not_wait
                watchers_hear_of_commands
                a_ruling_is_taken_once_where_it_is_awaited
            }
            archive {
                the_list_is_newest_first
                the_list_is_read_in_pages
                the_list_shows_the_digest
                the_list_by_prefix_and_session
                the_list_of_what_runs_or_waits
                a_summary_says_how_it_ended
                an_error_has_ended_until_it_is_tried_again
                inv_disc_631_the_most_relevant_comes_first
                inv_disc_631_a_question_about_paint_finds_no_software
                inv_disc_631_what_is_recalled_is_about_the_question
                a_recall_is_limited_to_what_may_be_shown
                inv_disc_632_copies_of_an_answer_are_found
                any_signs_may_be_searched
                a_session_must_exist
                sessions_are_newest_first
                sessions_are_read_in_pages
                a_session_is_renamed_and_removed_when_it_is_empty
                s12_tenants_see_their_own
                a_name_is_for_lists_only
                removing_takes_what_nobody_runs
                f12_an_order_is_reserved_once
                audit_entries_are_kept_by_tenant
            }
            outcomes {
                an_outcome_is_corrected_by_another_and_both_stay
                outcomes_are_kept_apart_by_tenant_and_simulation
                an_outcome_goes_with_its_discussion
            }
            retention {
                expired_discussions_are_hidden_first_and_removed_a_week_later
                f9_a_clock_that_leaps_forward_removes_and_hides_nothing
                f9_a_clock_that_leaps_forward_ends_no_grace_period
                f9_what_a_wrong_clock_hid_reappears_when_it_is_right_again
                a_restored_discussion_is_kept_as_long_as_a_new_one
                longer_retention_shows_hidden_discussions_again
                what_is_being_run_does_not_expire
            }
            spending {
                s14_what_is_set_aside_is_not_given_twice
                s14_a_repeated_draw_changes_nothing
                s14_what_was_not_needed_is_given_back
                s14_a_draw_needs_the_newest_claim
                s14_an_older_claims_allowance_is_settled_for_others
                s14_the_dead_leave_what_their_records_say
                s14_the_state_of_the_caps_leaves_out_the_dead
                s14_days_and_months_renew
                s14_accounts_are_separate
                s14_small_draws_bring_some_more
                s14_removing_keeps_the_count
            }
        }
    };
    (@each $make:path: $($topic:ident { $($case:ident)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                $crate::conformance::store::$topic::$case($make().await).await;
            })*
        })*
    };
}
