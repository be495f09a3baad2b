package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/notify"
)

// AlertWebhook names the variable that holds the address of a private chat.
const AlertWebhook = "AGENT_CONTRACTS_ALERT_WEBHOOK"

// alert tells the maintainers of a run that redaction stopped, where a chat is configured. An alert that cannot be sent
// changes nothing: the failure record is there all the same.
func (s *Stage) alert(f capture.FailureRecord) {
	webhook := s.Getenv(AlertWebhook)
	if webhook == "" {
		return
	}
	if err := s.send(context.Background(), webhook, f); err != nil {
		s.Progress("%v", err)
	}
}

func (s *Stage) send(ctx context.Context, webhook string, f capture.FailureRecord) error {
	client := &http.Client{Timeout: 10 * time.Second}
	return notify.Send(ctx, client, webhook, notify.Alert{
		Agent: f.Agent, Version: f.Version, Platform: f.Platform, Mode: f.Mode, Probe: f.Probe,
		Rule: f.Failure.Rule, Entry: f.Failure.Entry, Remedy: f.Failure.Remedy, Bundle: f.Bundle, Run: s.workflowURL(),
	})
}

// Bounds of what alerts are made from: the records come from other jobs.
const (
	maxAlerts  = 50
	maxFailure = 64 << 10
)

// Alert tells the maintainers' chat of the failure records below a folder, where the runs themselves had no address of it. It
// returns how many there were.
func (s *Stage) Alert(ctx context.Context, dir string) (int, error) {
	webhook := s.Getenv(AlertWebhook)
	if webhook == "" {
		return 0, fmt.Errorf("%s is not set: it holds the address of the chat", AlertWebhook)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close() //nolint:errcheck // read only
	var records []capture.FailureRecord
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(p, capture.FailureSuffix) {
			return err
		}
		if len(records) == maxAlerts {
			return fmt.Errorf("more than %d failure records: look at the runs themselves", maxAlerts)
		}
		record, err := failureRecord(root, p)
		records = append(records, record)
		return err
	})
	for _, record := range records {
		if record.Failure != nil {
			err = errors.Join(err, s.send(ctx, webhook, record))
		}
	}
	return len(records), err
}

// failureRecord reads a record. An error names the file and quotes nothing of it.
func failureRecord(root *os.Root, name string) (record capture.FailureRecord, err error) {
	f, err := root.Open(name)
	if err != nil {
		return record, err
	}
	defer f.Close() //nolint:errcheck // read only
	dec := json.NewDecoder(io.LimitReader(f, maxFailure))
	dec.DisallowUnknownFields()
	if dec.Decode(&record) != nil || record.Failure == nil || record.Failure.Rule == "" {
		return capture.FailureRecord{}, fmt.Errorf("%q is no failure record", name)
	}
	return record, nil
}
