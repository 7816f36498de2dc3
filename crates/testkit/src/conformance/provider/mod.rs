//! The conformance suite of HTTP providers, independent of the vendor's format.
//! `provider_conformance!` makes one test of each case.
//!
//! The servers run in real time, and so does the suite: its timeouts are short, and measured.

pub mod caps;
pub mod cuts;
pub mod fixture;
pub mod health;
pub mod lines;
pub mod refusals;
pub mod silence;
pub mod speaking;

use quorum_core::seams::Voice;

/// A provider under test.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// The servers' name for its format.
    pub wire: &'static str,
    /// Creates the voice of one of its models.
    pub voice: fn(&Seat<'_>) -> Voice,
    /// Features its format lacks, and why; the cases that need them are skipped with a message.
    pub lacks: &'static [(Lack, &'static str)],
}

/// The server and the settings for a voice.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'s> {
    /// The server's address, without a path.
    pub url: &'s str,
    /// The key to send; `None` tests a missing key.
    pub key: Option<&'s str>,
    /// The timeout for the first piece of the answer.
    pub first_ms: u64,
    /// The timeout between two pieces.
    pub idle_ms: u64,
}

/// A feature that not every format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Stop sequences in a request.
    Stop,
    /// The number of cached tokens.
    Cached,
    /// The number of thinking tokens.
    Reasoning,
    /// A finish reason for refused answers.
    Refused,
}

impl Subject {
    /// Whether its format lacks this feature; prints the reason.
    #[must_use]
    pub fn lacks(&self, lack: Lack) -> bool {
        let lacks = self.lacks.iter().find(|it| it.0 == lack);
        lacks.inspect(|(_, reason)| eprintln!("left out: {reason}")).is_some()
    }
}

/// One test for each case of the suite; `make` is a function that returns a [`Subject`].
#[macro_export]
macro_rules! provider_conformance {
    ($make:path) => {
        $crate::provider_conformance! { @each $make:
            speaking {
                an_answer_comes_with_its_text_its_end_and_what_it_used
                everyone_is_heard_in_the_right_role
                an_answer_ends_at_a_stop_sequence
                temperature_and_length_are_passed_on
                an_answer_keeps_to_its_form
                a_tool_call_asks_for_a_sub_discussion
                no_tool_is_offered_where_none_may_be_used
                why_it_ended_is_told
                thoughts_are_not_for_others
                an_answer_that_is_all_thought_ends_at_its_length
            }
            refusals {
                d12_every_status_has_its_class
                f5_retry_after_in_all_its_forms
                f7_what_is_no_stream_of_words_says_so
                f7_an_error_in_mid_stream_keeps_what_was_said
                f7_a_redirect_is_never_followed
                s1_a_key_that_is_echoed_stays_hidden
            }
            cuts {
                f3_a_stream_cut_anywhere_is_never_complete
                f3_a_byte_at_a_time_is_the_same_answer
                f4_noise_is_ignored_or_reported_as_an_error
                f8_hostile_text_arrives
            }
            silence {
                f2_a_hang_is_noticed_in_time_and_nothing_is_left
                f2_a_trickle_is_noticed_in_time
                f2_dropping_an_answer_closes_its_connection_at_once
            }
            caps {
                f7_an_endless_answer_is_cut_at_the_cap
                f7_a_line_without_end_is_cut_at_the_cap
                f7_a_million_tiny_pieces_are_cut_at_the_cap
            }
            lines {
                connections_are_used_again
                a_connection_outlives_a_refusal
                a_server_that_is_not_there_can_not_be_reached
            }
            health {
                inv_disc_100_what_is_wrong_is_told_apart
                inv_disc_100_a_hanging_server_is_noticed_in_time
                inv_disc_100_what_was_found_is_remembered
                inv_disc_100_many_at_once_ask_once
                inv_disc_100_a_check_that_is_dropped_holds_nobody_up
                inv_disc_100_a_check_costs_nothing
            }
        }
    };
    (@each $make:path: $($topic:ident { $($case:ident)* })*) => {
        $(mod $topic {
            $(#[tokio::test]
            async fn $case() {
                $crate::conformance::provider::$topic::$case($make()).await;
            })*
        })*
    };
}
