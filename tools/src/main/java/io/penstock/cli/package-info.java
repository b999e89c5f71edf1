// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code penstock} command. Results go to standard output, as text or, with {@code --json}, as JSON alone; progress
 * and errors go to standard error.
 *
 * <p>Picocli sets the fields of options before a command runs. An option without a default is null if it is not given.
 */
@NullMarked
package io.penstock.cli;

import org.jspecify.annotations.NullMarked;
