// SPDX-License-Identifier: Apache-2.0
/** What holds training back: verdicts, reports, comparison, metrics, drift of data, tuning. */
module io.penstock.diagnosis {
    requires transitive io.penstock;
    requires jdk.management;
    requires static java.instrument;
    requires static jdk.jfr;
    requires static jdk.httpserver;
    requires static micrometer.core;
    requires static org.jspecify;

    exports io.penstock.diagnose;
    exports io.penstock.diagnose.agent;
    exports io.penstock.diagnose.data;
    exports io.penstock.diagnose.machine;
    exports io.penstock.diagnose.metrics;
    exports io.penstock.diagnose.report;
    exports io.penstock.diagnose.watch;
    exports io.penstock.tune;

    // Not API: pages of HTML, which the command writes too.
    exports io.penstock.diagnose.markup to
            io.penstock.tools;
}
