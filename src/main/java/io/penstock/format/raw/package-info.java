/** Rows of numbers without a header: what they are has to be told. */
package io.penstock.format.raw;
