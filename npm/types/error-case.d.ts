// Generated from registry/schemas/error-case.schema.json; do not edit.
// schema-sha256: 9da9d9df1c40a374b9e95b07e5df9244981069000c8aba9e0de6fb9686081ce6

/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
/**
 * ProbeID names a probe: the folder probes/<id>. The canonical spelling has hyphens.
 */
export type ProbeID = string
/**
 * Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
 */
export type Hash = string
/**
 * RunResult is how a run ended for the consumer.
 */
export type RunResult = 'success' | 'failed' | 'cancelled'
/**
 * FailureCategory is the consumer's failure_category.
 */
export type FailureCategory =
  | 'auth'
  | 'rate_limit'
  | 'insufficient_balance'
  | 'model_unavailable'
  | 'prompt_too_large'
  | 'upstream_unavailable'
  | 'timeout'
  | 'empty_output'
  | 'tool_error'
  | 'process_exit'
  | 'user_cancel'
  | 'unknown'
  | 'entitlement_required'
/**
 * FailureDetail is the consumer's failure_detail.
 */
export type FailureDetail =
  | 'auth_required'
  | 'stale_profile'
  | 'refresh_token_reused'
  | 'missing_api_key'
  | 'hard_quota'
  | 'rate_limit_429'
  | 'amr_insufficient_balance'
  | 'model_not_found'
  | 'model_not_supported'
  | 'model_disabled'
  | 'cli_version_incompatible'
  | 'prompt_too_large'
  | 'upstream_5xx'
  | 'stream_disconnected'
  | 'network_error'
  | 'provider_high_demand'
  | 'provider_routing_error'
  | 'inactivity_timeout'
  | 'timeout'
  | 'empty_output'
  | 'tool_error'
  | 'cli_not_installed'
  | 'spawn_failed'
  | 'spawn_enoexec'
  | 'spawn_ebadf'
  | 'spawn_eperm'
  | 'stdin_write_eof'
  | 'agent_protocol_error'
  | 'permission_request_not_found'
  | 'qoder_stop_sequence'
  | 'exit_code'
  | 'terminated_unknown'
  | 'execution_failed'
  | 'user_cancelled'
  | 'unknown'
/**
 * FailureStage is the consumer's TrackingRunFailureStage.
 */
export type FailureStage =
  | 'preflight'
  | 'spawn'
  | 'session_init'
  | 'model_select'
  | 'prompt_send'
  | 'first_token_wait'
  | 'tool_execution'
  | 'artifact_write'
  | 'child_close'
  | 'finalize'
/**
 * FailureUserAction is the consumer's user_action. The auth action is "login".
 */
export type FailureUserAction =
  'retry' | 'login' | 'recharge' | 'switch_model' | 'reduce_context' | 'install_cli' | 'none'

/**
 * ErrorCase is one failure and how a consumer's classifier must read it.
 */
export interface ErrorCase {
  schema_version: number
  agent: AgentID
  probe: ProbeID
  raw_shape: Hash
  classifier_input: ClassifierInput
  /**
   * null exactly when the result is success
   */
  expected_failure_classification: Classification | null
  extensions?: Extensions
}
/**
 * ClassifierInput is what the consumer's daemon hands to its failure classifier.
 */
export interface ClassifierInput {
  result: RunResult
  /**
   * The daemon's run status; free-form
   */
  status: {
    [k: string]: unknown
  }
  errorCode?: string | null
  events?: ClassifierEvent[]
}
/**
 * ClassifierEvent is one daemon event; its data is free-form.
 */
export interface ClassifierEvent {
  event: string
  data: {
    [k: string]: unknown
  }
}
/**
 * Classification is a consumer's RunFailureClassification.
 */
export interface Classification {
  failure_category: FailureCategory
  failure_detail: FailureDetail
  failure_stage: FailureStage
  retryable: boolean
  user_action: FailureUserAction
}
/**
 * Extensions holds data of other parties under reverse-DNS keys (com.example.field).
 */
export interface Extensions {
  [k: string]: unknown
}
