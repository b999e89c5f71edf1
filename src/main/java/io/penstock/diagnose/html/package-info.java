// SPDX-License-Identifier: Apache-2.0
/** A run's summary as an HTML page: {@link io.penstock.diagnose.html.HtmlReport}. */
@NullMarked
package io.penstock.diagnose.html;

import org.jspecify.annotations.NullMarked;
