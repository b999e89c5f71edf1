/**
 * Calls of the operating system that the JDK does not offer.
 */
package io.penstock.os;
