package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/compare"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/discover"
	"github.com/open-design/agent-cli-contracts/pkg/publish"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// What a run leaves in Out. The name says what each holds; a run replaces them when all of it is there.
const (
	outRegistry = "registry"  // the new records, as an overlay on the checkout's registry
	outTree     = "tree"      // the registry with the new records accepted
	outReport   = "report.md" // what is new about them
	outPackage  = "package"   // the npm package of that tree, unpacked, and its tarball
	outNext     = ".next"     // the run that is being made
	outDone     = ".done"     // a run that is made and not yet in place
)

// RunReport is what a run did.
type RunReport struct {
	Agent    contract.AgentID    `json:"agent"`
	Version  contract.CLIVersion `json:"cli_version"`
	Plan     *discover.Plan      `json:"plan,omitempty"`
	Capture  *CaptureReport      `json:"capture"`
	Compare  *compare.Report     `json:"compare"`
	Package  *publish.Package    `json:"package"`
	Registry string              `json:"registry"`
	Tree     string              `json:"tree"`
	Report   string              `json:"report"`
}

// Run is the main job: discover, capture every probe of one release, compare with the registry, and build the package
// of the registry that the new records give. A verdict other than same_shape is a *FoundError. Out changes only when all
// of that is done: a killed run leaves what was there, and the next run puts in place what was done and removes the rest.
func (s *Stage) Run(ctx context.Context, req CaptureRequest) (*RunReport, error) {
	out := s.Out
	next := filepath.Join(out, outNext)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("creating the folder for the results: %w; name another with --out", err)
	}
	lock, err := scratch.TryLock(out)
	if err != nil {
		return nil, fmt.Errorf("taking the folder for the results: %w; let another run end, or name another folder with --out", err)
	}
	defer lock.Release()
	if err := errors.Join(finish(out), os.RemoveAll(next)); err != nil {
		return nil, fmt.Errorf("clearing what an earlier run left: %w", err)
	}
	if err := os.Mkdir(next, 0o755); err != nil {
		return nil, fmt.Errorf("creating the folder for the results: %w", err)
	}
	s.Out = next
	defer func() { s.Out = out }()
	report := &RunReport{}
	if err := s.runStages(ctx, req, report); err != nil {
		return report, errors.Join(err, s.keepPrivate(out, next), os.RemoveAll(next))
	}
	if err := os.Rename(next, filepath.Join(out, outDone)); err != nil {
		return report, err
	}
	if err := finish(out); err != nil {
		return report, err
	}
	report.Registry, report.Tree, report.Report = filepath.Join(out, outRegistry), filepath.Join(out, outTree), filepath.Join(out, outReport)
	report.Package.Folder, report.Package.Tarball = moved(report.Package.Folder, next, out), moved(report.Package.Tarball, next, out)
	if report.Compare.Found() {
		return report, Found("the worst verdict is %s: see %s", report.Compare.Worst, report.Report)
	}
	return report, nil
}

func (s *Stage) runStages(ctx context.Context, req CaptureRequest, report *RunReport) error {
	sel, err := registry.ParseSelector(req.Selector)
	if err != nil {
		return err
	}
	if req.Bin == "" {
		// Without a network the plan says so, and the run goes on from the cache.
		if report.Plan, err = s.Discover(ctx, []string{sel.Agent}); err != nil && report.Plan == nil {
			return err
		}
	}
	if report.Capture, err = s.Capture(ctx, req); report.Capture != nil {
		report.Agent, report.Version = report.Capture.Agent, report.Capture.Version
	}
	if err != nil {
		return err
	}
	overlay, err := registry.OpenTree(filepath.Join(s.Out, outRegistry))
	if err != nil {
		return err
	}
	defer overlay.Close() //nolint:errcheck // read only
	overlay.Overlay(s.Checkout.Tree)
	if report.Compare, err = compare.Classify(s.Checkout.Tree, overlay, s.Checkout.Catalog); err != nil {
		return err
	}
	text, err := report.Compare.Render(compare.FormatMarkdown)
	if err != nil {
		return err
	}
	if err := registry.WriteFile(filepath.Join(s.Out, outReport), text); err != nil {
		return err
	}
	s.Progress("accepting the new records into a copy of the registry")
	if err := registry.Accept(filepath.Join(s.Out, outTree), s.Checkout.Tree, overlay, s.derive); err != nil {
		return err
	}
	return s.runPackage(report)
}

func (s *Stage) runPackage(report *RunReport) error {
	tree, err := registry.OpenTree(filepath.Join(s.Out, outTree))
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // read only
	s.Progress("validating the tree and building the package")
	report.Package, err = s.build(tree, PublishRequest{Out: filepath.Join(s.Out, outPackage)})
	return err
}

// keepPrivate carries the failure records of a failed run over.
func (s *Stage) keepPrivate(out, next string) error {
	entries, err := os.ReadDir(filepath.Join(next, "private"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, "private"), 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(next, "private", e.Name()), filepath.Join(out, "private", e.Name())))
	}
	return err
}

// finish puts the parts of a run that is made in place. A kill between any two of its steps costs nothing: the next run
// goes on from there. Without such a run it does nothing.
func finish(out string) error {
	done := filepath.Join(out, outDone)
	for _, name := range []string{outRegistry, outTree, outReport, outPackage} {
		if err := swap(filepath.Join(done, name), filepath.Join(out, name)); err != nil {
			return fmt.Errorf("replacing %s: %w", filepath.Join(out, name), err)
		}
	}
	return os.RemoveAll(done)
}

// swap puts a file or folder in the place of an older one, unless that is done already. Folders cannot be replaced in
// one step everywhere: for a moment the older one is to be found only beside the new one.
func swap(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Rename(to, from+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(from, to)
}

func moved(path, from, to string) string {
	rel, err := filepath.Rel(from, path)
	if err != nil {
		return path
	}
	return filepath.Join(to, rel)
}
