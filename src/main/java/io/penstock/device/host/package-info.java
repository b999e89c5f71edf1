// SPDX-License-Identifier: Apache-2.0
/**
 * The host device: a stream is a thread with a ring of commands, an event is a position in a stream, device memory is
 * separate native memory. Not exported; {@link io.penstock.device.host.HostProvider} opens it.
 *
 * <p>It trains where there is no GPU and tests the engine's ordering everywhere: its copies really run concurrently
 * with the caller, so a missing wait gives a wrong result.
 */
@NullMarked
package io.penstock.device.host;

import org.jspecify.annotations.NullMarked;
