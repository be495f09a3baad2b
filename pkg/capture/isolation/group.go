package isolation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
)

// A group is the box without namespaces: each child leads a process group; on Windows all are in one job object.
type group struct {
	job      *job
	mu       sync.Mutex
	closed   bool        // nothing may start
	released bool        // the job is gone
	limit    *LimitError // that ended the box
	leaders  []*os.Process
	children []*Child
}

// openGroup makes a box of process groups on the host's network.
func openGroup(ctx context.Context, o Options) (*Box, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	j, err := newJob()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	g := &group{job: j}
	return &Box{
		listener:  l,
		isolation: Info{Kind: "process-group", Network: "host", User: "same", Limits: Limits{Disk: o.Limits.Disk}},
		runner:    g,
		stop:      context.AfterFunc(ctx, g.kill),
	}, nil
}

func (g *group) start(c Command, child *Child, stdio [3]*os.File) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	env := c.Env
	if env == nil {
		env = []string{} // nil would mean the caller's own
	}
	attr := &os.ProcAttr{Dir: c.Dir, Env: env, Files: stdio[:], Sys: groupAttr()}
	p, err := startFromPool(func() (*os.Process, error) {
		return os.StartProcess(c.Path, append([]string{c.Path}, c.Args...), attr)
	})
	if err != nil {
		return err
	}
	if err := g.job.add(p); err != nil {
		_ = p.Kill() // it fails only when the process has ended
		_, _ = p.Wait()
		return err
	}
	child.PID, child.send = p.Pid, p.Signal
	g.leaders, g.children = append(g.leaders, p), append(g.children, child)
	go func() {
		state, err := p.Wait()
		if err != nil {
			child.finish(Exit{Code: -1}, fmt.Errorf("waiting for the child: %w", err))
			return
		}
		child.finish(exitOf(state), g.fault())
	}()
	return nil
}

// kill ends everything.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if !g.released {
		g.job.kill(g.leaders)
	}
}

func (g *group) exceeded(l *LimitError) {
	g.mu.Lock()
	g.limit = l
	g.mu.Unlock()
	g.kill()
}

// fault is why the box ended a child that would have gone on.
func (g *group) fault() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", g.limit, ErrClosed)
}

func (g *group) addresses() Addresses { return Addresses{} }

func (g *group) close() error {
	g.kill()
	for _, c := range g.children {
		<-c.done
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true // the context may end later
	return g.job.close()
}

// startFromPool calls start on a thread that no goroutine owns. Where a child is to die with its parent, the
// kernel means the thread that started it, and a thread dies with a goroutine that is locked to it.
func startFromPool[T any](start func() (T, error)) (T, error) {
	var v T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		v, err = start()
	}()
	<-done
	return v, err
}
