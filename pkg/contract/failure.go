package contract

// RunResult is how a run ended for the consumer.
type RunResult string

// ResultSuccess is the result that has no failure classification.
const ResultSuccess RunResult = "success"

// Values lists the enum.
func (RunResult) Values() []string { return []string{"success", "failed", "cancelled"} }

// The failure enums below are the consumer's (Open Design packages/contracts, analytics); they are pinned here.

// FailureCategory is the consumer's failure_category.
type FailureCategory string

// Values lists the enum.
func (FailureCategory) Values() []string {
	return []string{"auth", "rate_limit", "insufficient_balance", "model_unavailable", "prompt_too_large", "upstream_unavailable", "timeout", "empty_output", "tool_error", "process_exit", "user_cancel", "unknown", "entitlement_required"}
}

// FailureDetail is the consumer's failure_detail.
type FailureDetail string

// Values lists the enum.
func (FailureDetail) Values() []string {
	return []string{
		"auth_required", "stale_profile", "refresh_token_reused", "missing_api_key", "hard_quota", "rate_limit_429", "amr_insufficient_balance",
		"model_not_found", "model_not_supported", "model_disabled", "cli_version_incompatible", "prompt_too_large", "upstream_5xx", "stream_disconnected",
		"network_error", "provider_high_demand", "provider_routing_error", "inactivity_timeout", "timeout", "empty_output", "tool_error", "cli_not_installed",
		"spawn_failed", "spawn_enoexec", "spawn_ebadf", "spawn_eperm", "stdin_write_eof", "agent_protocol_error", "permission_request_not_found",
		"qoder_stop_sequence", "exit_code", "terminated_unknown", "execution_failed", "user_cancelled", "unknown",
	}
}

// FailureStage is the consumer's TrackingRunFailureStage.
type FailureStage string

// Values lists the enum.
func (FailureStage) Values() []string {
	return []string{"preflight", "spawn", "session_init", "model_select", "prompt_send", "first_token_wait", "tool_execution", "artifact_write", "child_close", "finalize"}
}

// FailureUserAction is the consumer's user_action. The auth action is "login".
type FailureUserAction string

// Values lists the enum.
func (FailureUserAction) Values() []string {
	return []string{"retry", "login", "recharge", "switch_model", "reduce_context", "install_cli", "none"}
}
