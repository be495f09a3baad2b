package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// GitHubContext is what the runner says about the run, from GITHUB_… variables and the event file.
type GitHubContext struct {
	Action, ActionPath, ActionRef, ActionRepository string
	// Actions is true in a workflow.
	Actions                             bool
	Actor, APIURL, BaseRef, EventName   string
	EventPath, GraphqlURL, HeadRef, Job string
	Ref, RefName, RefType               string
	RefProtected                        bool
	Repository, RepositoryOwner         string
	RetentionDays, RunAttempt           int64
	RunID, RunNumber                    int64
	ServerURL, SHA, StepSummary         string
	Workflow, WorkflowRef, WorkflowSHA  string
	Workspace                           string
	// Event is the payload of the event that started the run; empty where there is no event file.
	Event map[string]any
}

// Context reads the run's context. An unset variable leaves its field empty; the addresses default to github.com.
func (a *Action) Context() (*GitHubContext, error) {
	get := func(name string) string { return a.getenv("GITHUB_" + name) }
	var errs []error
	number := func(name string) int64 {
		text := get(name)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("GITHUB_%s is not a number", name))
		}
		return n
	}
	or := func(value, fallback string) string {
		if value == "" {
			return fallback
		}
		return value
	}
	c := &GitHubContext{
		Action: get("ACTION"), ActionPath: get("ACTION_PATH"), ActionRef: get("ACTION_REF"), ActionRepository: get("ACTION_REPOSITORY"),
		Actions: get("ACTIONS") == "true", Actor: get("ACTOR"), APIURL: or(get("API_URL"), "https://api.github.com"), BaseRef: get("BASE_REF"),
		EventName: get("EVENT_NAME"), EventPath: get("EVENT_PATH"), GraphqlURL: or(get("GRAPHQL_URL"), "https://api.github.com/graphql"),
		HeadRef: get("HEAD_REF"), Job: get("JOB"), Ref: get("REF"), RefName: get("REF_NAME"), RefType: get("REF_TYPE"),
		RefProtected: get("REF_PROTECTED") == "true", Repository: get("REPOSITORY"), RepositoryOwner: get("REPOSITORY_OWNER"),
		RetentionDays: number("RETENTION_DAYS"), RunAttempt: number("RUN_ATTEMPT"), RunID: number("RUN_ID"), RunNumber: number("RUN_NUMBER"),
		ServerURL: or(get("SERVER_URL"), "https://github.com"), SHA: get("SHA"), StepSummary: get("STEP_SUMMARY"),
		Workflow: get("WORKFLOW"), WorkflowRef: get("WORKFLOW_REF"), WorkflowSHA: get("WORKFLOW_SHA"), Workspace: get("WORKSPACE"),
		Event: map[string]any{},
	}
	if c.EventPath != "" {
		data, err := os.ReadFile(c.EventPath)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			errs = append(errs, fmt.Errorf("reading GITHUB_EVENT_PATH: %w", err))
		case json.Unmarshal(data, &c.Event) != nil:
			errs = append(errs, errors.New("the file of GITHUB_EVENT_PATH is not a JSON object"))
		}
	}
	return c, errors.Join(errs...)
}

// Repo splits owner/name; both are empty where the context names no repository.
func (c *GitHubContext) Repo() (owner, name string) {
	owner, name, _ = strings.Cut(c.Repository, "/")
	return owner, name
}
