/** A run's summary as an HTML page: {@link io.penstock.diagnose.html.HtmlReport}. */
package io.penstock.diagnose.html;
