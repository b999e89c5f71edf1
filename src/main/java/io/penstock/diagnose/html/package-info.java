/** A run's summary as a page for a browser: {@link io.penstock.diagnose.html.HtmlReport}. */
package io.penstock.diagnose.html;
