//go:build !linux

package isolation

import "context"

// open makes the only kind of box that this system has. Box.Isolation says so; whoever needs more refuses there.
func open(ctx context.Context, o Options) (*Box, error) { return openGroup(ctx, o) }
