/**
 * The host device: a stream is a thread with a ring of commands, an event a position in a stream, device memory a
 * second piece of native memory. Not exported; {@link io.penstock.device.host.HostProvider} opens it.
 *
 * <p>It is what trains where there is no GPU, and what exercises the engine's ordering everywhere: its copies really
 * run beside the caller, so a missing wait is a wrong result and not a lucky one.
 */
package io.penstock.device.host;
