package isolation

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// A group is the box without namespaces: each child leads a process group.
type group struct {
	mu       sync.Mutex
	closed   bool
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
	g := &group{}
	return &Box{
		listener:  l,
		isolation: contract.Isolation{Kind: groupKind, Network: "host", User: "same", Limits: Limits{Disk: o.Limits.Disk}.record()},
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

// kill ends every group. A group whose leader has ended is killed too, since other members may live on and
// hold the pipes; its number cannot have become another process's while they do.
func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, p := range g.leaders {
		killGroup(p)
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

func (g *group) close() error {
	g.kill()
	for _, c := range g.children {
		<-c.done
	}
	return nil
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
