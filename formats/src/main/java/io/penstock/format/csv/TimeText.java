// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.time.LocalDate;
import java.util.concurrent.TimeUnit;

/**
 * A date or a time in a text, as ISO 8601 writes it: {@code 2024-02-29}, {@code 2024-02-29 12:30:15.25},
 * {@code 2024-02-29T12:30Z}, {@code …+02:00}. For one thread.
 */
final class TimeText {

    private static final int DATE_BYTES = 10;
    private static final int MAX_FRACTION_DIGITS = 9;

    private byte[] bytes = new byte[0];
    private int at;
    private int end;
    private long days;
    private long seconds;
    private int nanos;
    private boolean isDate;
    private boolean isZoned;
    private boolean isFine;

    /** Reads a text; returns false if it is no date and no time. */
    boolean read(byte[] text, int from, int to) {
        bytes = text;
        at = from;
        end = to;
        if (to - from < DATE_BYTES || text[from + 4] != '-' || text[from + 7] != '-') {
            return false;
        }
        int year = digits(4);
        at++;
        int month = digits(2);
        at++;
        int day = digits(2);
        if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) {
            return false;
        }
        days = LocalDate.of(year, month, day).toEpochDay();
        seconds = 0;
        nanos = 0;
        isZoned = false;
        isFine = false;
        isDate = at == end;
        return isDate || time();
    }

    private boolean time() {
        byte between = bytes[at++];
        int hour = digits(2);
        if (between != ' ' && between != 'T' || hour < 0 || hour > 23 || !is(':')) {
            return false;
        }
        int minute = digits(2);
        int second = 0;
        if (minute < 0 || minute > 59) {
            return false;
        }
        if (is(':')) {
            second = digits(2);
            if (second < 0 || second > 59 || is('.') && !fraction()) {
                return false;
            }
        }
        seconds = hour * 3600L + minute * 60L + second;
        return at == end || zone();
    }

    private boolean fraction() {
        int first = at;
        for (; at < end && bytes[at] >= '0' && bytes[at] <= '9' && at - first < MAX_FRACTION_DIGITS; at++) {
            nanos = 10 * nanos + bytes[at] - '0';
        }
        isFine = at - first > 6;
        for (int i = at - first; i < MAX_FRACTION_DIGITS; i++) {
            nanos *= 10;
        }
        return at > first;
    }

    private boolean zone() {
        isZoned = true;
        if (is('Z')) {
            return at == end;
        }
        boolean isEast = is('+');
        if (!isEast && !is('-')) {
            return false;
        }
        int hours = digits(2);
        boolean hasColon = is(':');
        int minutes = at == end && !hasColon ? 0 : digits(2);
        if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
            return false;
        }
        long offset = hours * 3600L + minutes * 60L;
        seconds -= isEast ? offset : -offset;
        return at == end;
    }

    private boolean is(char expected) {
        boolean found = at < end && bytes[at] == expected;
        at += found ? 1 : 0;
        return found;
    }

    /** Returns the value of so many digits; negative if they are not there. */
    private int digits(int count) {
        int value = 0;
        for (int i = 0; i < count; i++, at++) {
            if (at >= end || bytes[at] < '0' || bytes[at] > '9') {
                return -1;
            }
            value = 10 * value + bytes[at] - '0';
        }
        return value;
    }

    private static int daysOf(int year, int month) {
        boolean isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        return month == 2 ? isLeap ? 29 : 28 : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    /** Tells whether the last text is a date without a time. */
    boolean isDate() {
        return isDate;
    }

    /** Tells whether the last time says its zone. */
    boolean isZoned() {
        return isZoned;
    }

    /** Tells whether the last time has a fraction of more than six digits. */
    boolean isFine() {
        return isFine;
    }

    /** Returns the days of the last text since 1970. */
    long days() {
        return days;
    }

    /**
     * Tells whether the last time is a whole number of units, in 64 bits. Without this, {@link #since1970} has the one
     * before.
     */
    boolean fits(TimeUnit unit) {
        long perSecond = unit.convert(1, SECONDS);
        long total = days * 86_400 + seconds;
        return 1_000_000_000L % perSecond == 0 && nanos % (1_000_000_000L / perSecond) == 0
                && Math.abs(total) <= Long.MAX_VALUE / perSecond - 1;
    }

    /** Returns the units of the last time since 1970 in UTC. */
    long since1970(TimeUnit unit) {
        long perSecond = unit.convert(1, SECONDS);
        return (days * 86_400 + seconds) * perSecond + nanos / (1_000_000_000L / perSecond);
    }
}
