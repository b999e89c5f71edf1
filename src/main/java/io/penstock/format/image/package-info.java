/** Image files, JPEG and PNG, as stores of one tensor. */
package io.penstock.format.image;
