// SPDX-License-Identifier: Apache-2.0
/**
 * Diagnoses a trainer whose code does not do it: a Java agent that finds the loaders of the process, and times input of
 * other libraries that it is told of.
 */
@NullMarked
package io.penstock.diagnose.agent;

import org.jspecify.annotations.NullMarked;
