//go:build !linux

package isolation

import (
	"context"
	"fmt"
)

// open makes the only kind of box that this system has. Box.Isolation says so; whoever needs more refuses there.
func open(ctx context.Context, o Options) (*Box, error) {
	if o.Outside != nil {
		return nil, fmt.Errorf("%w: this system has none", ErrRefused)
	}
	return openGroup(ctx, o)
}
