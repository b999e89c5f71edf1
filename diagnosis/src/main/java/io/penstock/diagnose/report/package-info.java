// SPDX-License-Identifier: Apache-2.0
/**
 * Diagnoses for people and other programs: a page of HTML with charts, the comparison of two runs, a trace for
 * Perfetto. What is drawn may change in any release.
 */
@NullMarked
package io.penstock.diagnose.report;

import org.jspecify.annotations.NullMarked;
