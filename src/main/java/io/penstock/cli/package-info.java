// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code penstock} command. Results go to standard output, as text or, with {@code --json}, as JSON alone; progress
 * and errors go to standard error.
 */
package io.penstock.cli;
