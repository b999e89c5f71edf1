/**
 * What a loader tells profilers while it runs: events of the JDK's flight recorder, and NVTX ranges for NVIDIA's tools.
 *
 * <p>One class a thread of the loader ({@link io.penstock.loader.events.FillEvents},
 * {@link io.penstock.loader.events.CopyEvents}, {@link io.penstock.loader.events.TakeEvents}), each called by that
 * thread as things happen, so that an event begins and ends by the profiler's own clock. Event objects are made once,
 * when a recording first wants them, and used again for every batch: nothing is on the heap while none is made, and
 * nothing is loaded that a JVM without a flight recorder would not have.
 */
package io.penstock.loader.events;
