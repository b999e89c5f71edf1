// SPDX-License-Identifier: Apache-2.0
/**
 * What is left of a file when its writer is stopped: by a call that fails, a kill, or a power cut.
 *
 * <p>The shim of {@code src/test/native/crash} is loaded before the C library of a JVM of its own. There {@link
 * io.penstock.crash.CrashProgram} runs each writer of {@link io.penstock.crash.Writers}, where nothing was and over
 * what was there, and
 * <ul>
 * <li>fails each call in turn ({@link io.penstock.crash.FailingCalls});
 * <li>logs the calls of a run, and opens what each beginning of the log leaves on a disk, with all that was not synced
 *     applied, lost, or in part ({@link io.penstock.crash.PowerLoss});
 * <li>kills processes at calls ({@link io.penstock.crash.Kills}), as a check that a beginning of the log is what a kill
 *     leaves.
 * </ul>
 *
 * <p>The build runs a part of it that the seed chooses; all of it is run by
 *
 * <pre>{@code
 * mvn -B test -Dtest=CrashTest -Dpenstock.crash=whole
 * }</pre>
 */
package io.penstock.crash;
