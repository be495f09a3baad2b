//go:build !unix

package main

import (
	"context"
	"errors"
)

// stand needs what only Unix has: processes that end by signals, and pipes that say when nobody reads them.
func (c *recordCmd) stand(context.Context, *app) error {
	return errors.New("record does not stand in an agent's place on this system; --import works")
}
